// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitJoin.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::Elementary;

static constexpr int64_t kThreads = SplitShape::kThreads, kParts = SplitShape::kParts;

SplitJoin::SplitJoin(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                     const SplitShape &shape)
    : SplitKernel(function, kernel, attention, shape, /*rowsOfTile=*/1, kThreads) {
  auto makeIfLong = [&](std::optional<PairwiseStack> &groups, int64_t keysOfPart) {
    int64_t count = llvm::divideCeil(shape.longestChunk, keysOfPart * kParts);
    if (count > 1)
      groups.emplace(code, 1, 1 + llvm::Log2_64_Ceil(count));
  };
  makeIfLong(nodeGroups, SplitShape::kNode);
  makeIfLong(leafGroups, SplitShape::kLeaf);
}

void SplitJoin::emit() {
  forEachUnit(tiles.count(), [&](Value unit) { emitRow(tiles.tileAt(unit)); });
}

//===- Trees --------------------------------------------------------------===//

// All are loaded before the first two are joined. Parts that are not there are not joined.
Value SplitJoin::joinGroup(Value first, Value count, function_ref<Value(Value)> part) {
  SmallVector<Value> parts;
  Value last = code.sub(count, code.i64(1));
  for (int64_t i = 0; i < kParts; ++i)
    parts.push_back(part(code.binary<arith::MinUIOp>(code.add(first, i), last)));
  for (int64_t stride = 1; stride < kParts; stride *= 2)
    for (int64_t left = 0; left + stride < kParts; left += 2 * stride) {
      Value isThere = code.isBelow(code.add(first, left + stride), count);
      parts[left] = code.select(isThere, code.plus(parts[left], parts[left + stride]), parts[left]);
    }
  return parts.front();
}

Value SplitJoin::joined(std::optional<PairwiseStack> &groups, Value count, function_ref<Value(Value)> part) {
  if (!groups)
    return joinGroup(code.i64(0), count, part);
  PairwiseStack::State empty = groups->empty();
  SmallVector<Value> state = code.loop(
      code.i64(0), count, code.i64(kParts), {empty.parts, empty.depth}, [&](Value first, ValueRange so) {
        PairwiseStack::State next = groups->push({so[0], so[1]}, joinGroup(first, count, part));
        return SmallVector<Value>{next.parts, next.depth};
      });
  return groups->total({state[0], state[1]})[0];
}

//===- Chunks -------------------------------------------------------------===//

void SplitJoin::writeChunks(Value row, Value first) {
  Value chunk = code.add(first, code.resized(code.thread, 64));
  code.synchronize();
  code.emitIf(code.isBelow(chunk, chunks.end), [&] {
    Value shift = code.orZero(load(counts.maximum(row, chunk)));
    Value isLater = code.isBelow(chunks.begin, chunk);
    Value before = code.changeIf(isLater, code.real(-kInfinity), [&] {
      return SmallVector<Value>{load(counts.maximum(row, code.sub(chunk, code.i64(1))))};
    })[0];
    Value node = code.binary<arith::MulIOp>(chunk, counts.nodesOfChunk);
    Value weight = joined(nodeGroups, partsOf(chunk, SplitShape::kNode),
                          [&](Value part) { return load(counts.weight(row, code.add(node, part))); });
    code.store(code.shared(0), code.thread,
               code.apply(Elementary::Exp, code.binary<arith::SubFOp>(before, shift)));
    code.store(code.shared(0), code.add(code.thread, kThreads), weight);
  });
  code.synchronize();
}

// A chunk of one leaf is one of several whose products are loaded together.
SmallVector<Value> SplitJoin::addChunks(Value row, Value column, Value first, ValueRange sums) {
  int64_t together = shape.longestChunk <= SplitShape::kLeaf ? kParts : 1;
  Value end = code.binary<arith::MinUIOp>(chunks.end, code.add(first, kThreads));
  return code.loop(first, end, code.i64(together), sums, [&](Value chunk, ValueRange before) {
    SmallVector<Value> next(before), products, numbers;
    for (int64_t i = 0; i < together; ++i) {
      numbers.push_back(code.add(chunk, i));
      Value inside = together == 1 ? chunk : code.select(code.isBelow(numbers[i], end), numbers[i], chunk);
      Value leaf = code.binary<arith::MulIOp>(inside, counts.leavesOfChunk);
      auto part = [&](Value number) {
        return load(code.add(counts.product(row, code.add(leaf, number)), column));
      };
      products.push_back(together == 1 ? joined(leafGroups, partsOf(chunk, SplitShape::kLeaf), part)
                                       : part(code.i64(0)));
    }
    for (int64_t i = 0; i < together; ++i) {
      Value isThere = code.isBelow(numbers[i], end);
      Value place = code.resized(code.sub(numbers[i], first), 32);
      if (together > 1)
        place = code.select(isThere, place, code.i32(0));
      Value factor = code.load(code.shared(0), code.accumulator, place);
      Value weight = code.load(code.shared(0), code.accumulator, code.add(place, kThreads));
      Value ofChunk[] = {weight, products[i]};
      for (auto [sum, added] : llvm::zip_equal(next, ofChunk)) {
        Value after = code.plus(code.times(sum, factor), added);
        sum = together == 1 ? after : code.select(isThere, after, sum);
      }
    }
    return next;
  });
}

void SplitJoin::emitRow(const Tile &tile) {
  Value row = counts.rowNumber(tile, code.i32(0));
  Value column = code.add(tile.firstColumn, code.resized(code.thread, 64));
  Value inside = code.binary<arith::MinUIOp>(column, code.i64(attention.width - 1));
  SmallVector<Value> sums = code.loop(chunks.begin, chunks.end, code.i64(kThreads),
                                      {code.real(0), code.real(0)}, [&](Value first, ValueRange before) {
                                        writeChunks(row, first);
                                        return addChunks(row, inside, first, before);
                                      });
  Value maximum = code.changeIf(code.isBelow(chunks.begin, chunks.end), code.real(-kInfinity), [&] {
    return SmallVector<Value>{load(counts.maximum(row, code.sub(chunks.end, code.i64(1))))};
  })[0];
  storeRow(tile, column, maximum, sums);
}

void SplitJoin::storeRow(const Tile &tile, Value column, Value maximum, ValueRange sums) {
  Value number = tiles.rowOf(tile, code.i32(0)).number, weight = sums[0];
  if (memory.logSum.pointer)
    code.emitIf(isFirst(column), [&] {
      memory.store(memory.logSum, number,
                   code.plus(code.orZero(maximum), code.apply(Elementary::Log, weight)));
    });
  if (!memory.result.pointer)
    return;
  code.emitIf(code.isBelow(column, code.i64(attention.width)), [&] {
    // The sums of a row for which no key counts are 0.
    Value divisor = code.select(code.isEqual(weight, 0), code.real(1), weight);
    Value first = code.binary<arith::MulIOp>(number, attention.width);
    memory.store(memory.result, code.add(first, column), code.binary<arith::DivFOp>(sums[1], divisor));
  });
}
