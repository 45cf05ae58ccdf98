// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel that merges two sorted runs of memory each.

#include "../Generic/SharedMemory.h"
#include "SortEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// The items of all lines, twice, as kernels read one side and write the other; one part after the other.
SortEmitter::Runs SortEmitter::runsAt(Value side, Value element) {
  Value all = items.binary<arith::MulIOp>(lines, length);
  Value ofSide = items.add(items.binary<arith::MulIOp>(side, all), element);
  Value allPositions = items.at(memory, items.keyType(), items.add(all, all));
  return {items.at(memory, items.keyType(), ofSide), items.at(allPositions, items.positionType(), ofSide)};
}

SortItem SortEmitter::loadFrom(const Runs &runs, Value number) {
  return {items.load(runs.keys, items.keyType(), number),
          items.load(runs.positions, items.positionType(), number)};
}

void SortEmitter::storeTo(const Runs &runs, Value number, const SortItem &item) {
  items.store(runs.keys, number, item.key);
  items.store(runs.positions, number, item.position);
}

// How many of the first `before` items of two merged runs are from x, between the bounds. The threads of a
// warp compare at 32 places of what is left, so that few loads follow one another.
Value SortEmitter::splitOf(Value keysOfX, Value keysOfY, Value least, Value most, Value before) {
  Type i32 = builder.getI32Type();
  Value lane = items.binary<arith::AndIOp>(thread, kWarpThreads - 1),
        lastOfY = items.sub(before, items.i32(1));
  auto body = [&](OpBuilder &, Location, ValueRange bounds) {
    Value left = items.sub(bounds[1], bounds[0]);
    Value step = items.binary<arith::CeilDivUIOp>(left, kWarpThreads);
    auto lastOf = [&](Value part) {
      return items.sub(items.add(bounds[0], items.binary<arith::MulIOp>(items.add(part, 1), step)),
                       items.i32(1));
    };
    Value place = lastOf(lane), isThere = items.isBelow(place, bounds[1]);
    place = items.select(isThere, place, bounds[0]);
    Value isFirst = items.compare(arith::CmpIPredicate::ule, items.load(keysOfX, items.keyType(), place),
                                  items.load(keysOfY, items.keyType(), items.sub(lastOfY, place)));
    Value all = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(-1));
    Value votes = NVVM::VoteSyncOp::create(
        builder, loc, i32, all, items.binary<arith::AndIOp>(isThere, isFirst), NVVM::VoteSyncKind::ballot);
    Value parts = LLVM::CtPopOp::create(builder, loc, i32, votes);
    Value from = items.add(bounds[0], items.binary<arith::MulIOp>(parts, step));
    scf::YieldOp::create(builder, loc,
                         ValueRange{from, items.binary<arith::MinUIOp>(lastOf(parts), bounds[1])});
  };
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{i32, i32}, ValueRange{least, most},
      [&](OpBuilder &, Location, ValueRange bounds) {
        scf::ConditionOp::create(builder, loc, items.isBelow(bounds[0], bounds[1]), bounds);
      },
      body);
  return loop.getResult(0);
}

/// A part of two merged runs, x and y. All numbers are i32, those of items from the first one of x.
struct SortEmitter::Merge {
  Value start;    ///< of x in its line
  Value ofX, ofY; ///< items of each
  Value run;      ///< where y begins
  Value before;   ///< merged items before the part
  Value count;    ///< items of the part
};

// A warp searches where the part begins in x and y, another one where it ends.
std::pair<Value, Value> SortEmitter::splitsOf(const Merge &merge, Value keysOfX, Value splits) {
  Value warp = items.binary<arith::ShRUIOp>(thread, llvm::Log2_64(kWarpThreads));
  emitIf(items.isBelow(warp, items.i32(2)), [&] {
    Value end = items.add(merge.before, items.binary<arith::MulIOp>(warp, merge.count));
    Value least = items.sub(end, items.binary<arith::MinUIOp>(end, merge.ofY));
    Value keysOfY = items.at(keysOfX, items.keyType(), merge.run);
    Value split = splitOf(keysOfX, keysOfY, least, items.binary<arith::MinUIOp>(end, merge.ofX), end);
    Value lane = items.binary<arith::AndIOp>(thread, kWarpThreads - 1);
    emitIf(items.compare(arith::CmpIPredicate::eq, lane, items.i32(0)),
           [&] { items.store(splits, warp, split); });
  });
  synchronize();
  auto splitAt = [&](int64_t number) { return items.load(splits, builder.getI32Type(), items.i32(number)); };
  return {splitAt(0), splitAt(1)};
}

// Loads the part into shared memory, the items of x first, of which there are `countOfX`; all of them are
// loaded before the first one is stored. Places behind the part have any items.
void SortEmitter::loadPart(const Merge &merge, const Runs &runs, Value firstX, Value countOfX,
                           SharedItems &shared) {
  // What is skipped from the items of x to those of y.
  Value toY = items.sub(items.sub(items.add(merge.run, merge.before), firstX), items.add(firstX, countOfX));
  SmallVector<std::pair<Value, SortItem>> loaded;
  forEachPlace(shape.tile, [&](Value place) {
    Value skipped = items.select(items.isBelow(place, countOfX), items.i32(0), toY);
    Value number = items.add(items.add(firstX, place), skipped);
    number = items.select(items.isBelow(place, merge.count), number, items.i32(0));
    loaded.push_back({place, loadFrom(runs, number)});
  });
  for (auto &[place, item] : loaded)
    shared.store(place, item);
}

void SortEmitter::emitMerge() {
  SharedItems shared = shareItems(shape.tile);
  Type i32 = builder.getI32Type();
  Value splits = sharedMemory(builder, function, 2 * sizeof(int32_t), "splits");
  Value places = items.i64(shape.tile), tilesOfLine = items.binary<arith::CeilDivUIOp>(length, places);
  Value elements = items.resized(length, 32), level = arith::IndexCastOp::create(builder, loc, i32, pass);
  Value run = items.binary<arith::ShLIOp>(items.i32(shape.tile), level), both = items.add(run, run);
  Value from = items.resized(items.binary<arith::AndIOp>(level, 1), 64);
  Value to = items.binary<arith::XOrIOp>(from, 1);
  forEachTile(items.binary<arith::MulIOp>(lines, tilesOfLine), [&](Value number) {
    Value first = items.resized(
        items.binary<arith::MulIOp>(items.binary<arith::RemUIOp>(number, tilesOfLine), places), 32);
    Value line = items.binary<arith::MulIOp>(items.binary<arith::DivUIOp>(number, tilesOfLine), length);
    Merge merge = mergeAt(first, elements, run);
    Runs runs = runsAt(from, items.add(line, items.resized(merge.start, 64)));
    auto [firstX, endX] = splitsOf(merge, runs.keys, splits);
    Value countOfX = items.sub(endX, firstX);
    loadPart(merge, runs, firstX, countOfX, shared);
    synchronize();
    Value own =
        items.binary<arith::MinUIOp>(items.binary<arith::MulIOp>(thread, kItemsOfThread), merge.count);
    SmallVector<SortItem> merged = shared.merge({items.i32(0), countOfX}, {countOfX, merge.count}, own);
    synchronize();
    shared.storeOwn(merged);
    synchronize();
    Value element = items.add(line, items.resized(first, 64));
    storeItems(items.compare(arith::CmpIPredicate::uge, both, elements), to, element, [&](Store store) {
      forEachPlace(shape.tile, [&](Value place) {
        emitIf(items.isBelow(place, merge.count), [&] { store(place, shared.load(place)); });
      });
    });
  });
}

// The part that begins there in its line. The last runs of a line may be short or empty.
SortEmitter::Merge SortEmitter::mergeAt(Value first, Value elements, Value run) {
  Value both = items.add(run, run),
        before = items.binary<arith::AndIOp>(first, items.sub(both, items.i32(1)));
  Value start = items.sub(first, before), left = items.sub(elements, start);
  Value ofX = items.binary<arith::MinUIOp>(left, run);
  Value ofY = items.binary<arith::MinUIOp>(items.sub(left, ofX), run);
  Value count = items.binary<arith::MinUIOp>(items.sub(elements, first), shape.tile);
  return {start, ofX, ofY, run, before, count};
}
