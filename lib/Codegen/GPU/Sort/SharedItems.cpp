// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SharedItems.h"
#include "../Generic/SharedMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// An unused slot behind the items of each thread, so that threads access theirs without bank conflicts.
static int64_t slotsFor(int64_t count) { return count + count / kItemsOfThread + 1; }

int64_t SharedItems::bytesFor(ItemForm form, int64_t count) { return slotsFor(count) * form.bytes(); }

SharedItems::SharedItems(SortItems &items, Operation *function, int64_t count, Value thread)
    : items(items), thread(thread) {
  keys = sharedMemory(items.builder, function, /*bytes=*/0, "items");
  positions = items.at(keys, items.keyType(), items.i32(slotsFor(count)));
}

Value SharedItems::slotOf(Value place) {
  return items.add(place, items.binary<arith::ShRUIOp>(place, llvm::Log2_64(kItemsOfThread)));
}

Value SharedItems::loadKey(Value place) { return items.load(keys, items.keyType(), slotOf(place)); }

Value SharedItems::loadPosition(Value place) {
  return items.form.hasPosition ? items.load(positions, items.positionType(), slotOf(place)) : Value();
}

void SharedItems::store(Value place, const SortItem &item) {
  Value slot = slotOf(place);
  items.store(keys, slot, item.key);
  if (items.form.hasPosition)
    items.store(positions, slot, item.position);
}

// A thread has slots without a gap.
SmallVector<SortItem> SharedItems::loadOwn() {
  SmallVector<SortItem> own;
  Value first = items.binary<arith::MulIOp>(thread, kItemsOfThread);
  for (int64_t i = 0; i < kItemsOfThread; ++i)
    own.push_back(load(items.add(first, i)));
  return own;
}

void SharedItems::storeOwn(ArrayRef<SortItem> own) {
  Value first = items.binary<arith::MulIOp>(thread, kItemsOfThread);
  for (auto [i, item] : llvm::enumerate(own))
    store(items.add(first, static_cast<int64_t>(i)), item);
}

// How many of the first `before` items of the merged runs are from x.
Value SharedItems::splitOf(Run x, Run y, Value before) {
  OpBuilder &builder = items.builder;
  Value countOfX = items.sub(x.end, x.first), countOfY = items.sub(y.end, y.first);
  Value least = items.sub(before, items.binary<arith::MinUIOp>(before, countOfY));
  Value most = items.binary<arith::MinUIOp>(before, countOfX);
  Value lastOfY = items.sub(items.add(y.first, before), items.i32(1));
  auto loop = scf::WhileOp::create(
      builder, items.loc, TypeRange{least.getType(), most.getType()}, ValueRange{least, most},
      [&](OpBuilder &, Location loc, ValueRange bounds) {
        scf::ConditionOp::create(builder, loc, items.isBelow(bounds[0], bounds[1]), bounds);
      },
      [&](OpBuilder &, Location loc, ValueRange bounds) {
        Value middle = items.binary<arith::ShRUIOp>(items.add(bounds[0], bounds[1]), 1);
        Value isFirst = items.compare(arith::CmpIPredicate::ule, loadKey(items.add(x.first, middle)),
                                      loadKey(items.sub(lastOfY, middle)));
        Value from = items.select(isFirst, items.add(middle, 1), bounds[0]);
        scf::YieldOp::create(builder, loc, ValueRange{from, items.select(isFirst, bounds[1], middle)});
      });
  return loop.getResult(0);
}

SmallVector<SortItem> SharedItems::merge(Run x, Run y, Value before) {
  Value ofX = splitOf(x, y, before);
  Value nextX = items.add(x.first, ofX), nextY = items.add(y.first, items.sub(before, ofX));
  Value keyX = loadKey(nextX), keyY = loadKey(nextY);
  SmallVector<SortItem> merged;
  while (true) {
    Value isEmpty = items.compare(arith::CmpIPredicate::uge, nextX, x.end);
    Value isSmaller = items.binary<arith::OrIOp>(isEmpty, items.isBelow(keyY, keyX));
    Value takesY = items.binary<arith::AndIOp>(items.isBelow(nextY, y.end), isSmaller);
    Value taken = items.select(takesY, nextY, nextX);
    merged.push_back({items.select(takesY, keyY, keyX), loadPosition(taken)});
    if (merged.size() == kItemsOfThread)
      return merged;
    Value next = items.add(taken, 1);
    nextX = items.select(takesY, nextX, next);
    nextY = items.select(takesY, next, nextY);
    Value loaded = loadKey(next);
    keyX = items.select(takesY, keyX, loaded);
    keyY = items.select(takesY, loaded, keyY);
  }
}
