// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitWeights.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::Elementary;

// Weights that a thread computes together.
static constexpr int64_t kTogether = 4;

void SplitWeights::writeShifts(const Tile &tile, Value chunk) {
  code.loop(warp(), code.i32(shape.rows), code.i32(SplitShape::kWarps), [&](Value row) {
    // Rows that the tile lacks are the last one.
    Value inside =
        code.binary<arith::MinUIOp>(row, code.sub(code.sub(tile.rows, tile.firstRow), code.i32(1)));
    Value shift = code.orZero(maximumUpTo(counts.rowNumber(tile, inside), chunk));
    code.emitIf(isFirst(lane()), [&] { code.store(code.shared(shape.shifts()), row, shift); });
  });
}

// Keys behind the last one have the weight -0 where it multiplies the +0 of a value that is not there.
void SplitWeights::writeWeights(const Tile &tile, const Part &leaf) {
  Value count = code.resized(leaf.count, 32), last = code.sub(count, code.i32(1));
  code.loop(code.i32(0), code.i32(shape.rows), code.i32(1), [&](Value row) {
    Value inside =
        code.binary<arith::MinUIOp>(row, code.sub(code.sub(tile.rows, tile.firstRow), code.i32(1)));
    Value scores = code.add(counts.score(counts.rowNumber(tile, inside), leaf.chunk), leaf.first);
    Value shift = code.load(code.shared(shape.shifts()), code.accumulator, row);
    SmallVector<Value> keys, exponents;
    for (int64_t first = 0; first < shape.keysOfLeaf(); first += SplitShape::kThreads) {
      keys.push_back(code.add(code.thread, first));
      Value key = code.resized(code.binary<arith::MinUIOp>(keys.back(), last), 64);
      exponents.push_back(code.binary<arith::SubFOp>(load(code.add(scores, key)), shift));
    }
    for (auto [key, weight] : llvm::zip_equal(keys, code.applyAll(Elementary::Exp, exponents))) {
      Value narrow = code.rounded(weight, attention.element);
      Value place = code.add(code.binary<arith::MulIOp>(row, shape.weightStride()), key);
      code.store(code.shared(shape.weights()), place,
                 code.select(code.isBelow(key, count), narrow, code.real(-0.0)));
    }
  });
}

// Scores from the first one on, of which there are `count` (i64), in a chain of every 64th. Behind the last
// one they are -inf up to the end of a slab.
Value SplitWeights::sumLane(Value scores, Value count, Value shift) {
  Value lane = code.resized(code.binary<arith::RemUIOp>(code.thread, SplitShape::kLanes), 64);
  Value end = code.binary<arith::MulIOp>(code.binary<arith::CeilDivUIOp>(count, code.i64(SplitShape::kLanes)),
                                         SplitShape::kLanes);
  return code.loop(lane, end, code.i64(kTogether * SplitShape::kLanes), code.real(0),
                   [&](Value first, ValueRange so) {
                     SmallVector<Value> exponents;
                     for (int64_t i = 0; i < kTogether; ++i) {
                       Value key = code.add(first, i * SplitShape::kLanes), isThere = code.isBelow(key, end);
                       Value score = load(code.add(scores, code.select(isThere, key, first)));
                       score = code.select(isThere, score, code.real(-kInfinity));
                       exponents.push_back(code.binary<arith::SubFOp>(score, shift));
                     }
                     Value sum = so.front();
                     for (Value weight : code.applyAll(Elementary::Exp, exponents))
                       sum = code.plus(sum, weight);
                     return SmallVector<Value>{sum};
                   })[0];
}

// The halving tree over the lanes of two warps, which both compute.
Value SplitWeights::joinLanes(Value sum) {
  Value place = code.binary<arith::RemUIOp>(code.thread, SplitShape::kLanes);
  Value firstLane = code.sub(code.thread, place), lanes = code.shared(shape.lanes());
  code.synchronize();
  code.store(lanes, code.thread, sum);
  code.synchronize();
  Value left = code.add(firstLane, lane());
  sum = code.plus(code.load(lanes, code.accumulator, left),
                  code.load(lanes, code.accumulator, code.add(left, SplitShape::kLanes / 2)));
  for (int64_t distance = kWarpThreads / 2; distance >= 1; distance /= 2)
    sum = code.plus(sum, code.ofThread(sum, distance));
  return sum;
}

void SplitWeights::sumNodes(Value firstNode) {
  Value nodes = counts.nodes(), all = code.binary<arith::MulIOp>(counts.rows, nodes);
  Value number =
      code.add(firstNode, code.resized(code.binary<arith::DivUIOp>(code.thread, SplitShape::kLanes), 64));
  Value inside = code.binary<arith::MinUIOp>(number, code.sub(all, code.i64(1)));
  Value row = code.binary<arith::DivUIOp>(inside, nodes), inRow = code.binary<arith::RemUIOp>(inside, nodes);
  Part node = partAt(inRow, counts.nodesOfChunk, SplitShape::kNode);
  Value isThere = both(node.isThere, code.isBelow(number, all)), none = code.real(0);
  SmallVector<Value> sums = code.changeIf(isThere, {none, none}, [&] {
    Value maximum = maximumUpTo(row, node.chunk);
    Value scores = code.add(counts.score(row, node.chunk), node.first);
    return SmallVector<Value>{sumLane(scores, node.count, code.orZero(maximum)), maximum};
  });
  Value sum = joinLanes(sums[0]);
  Value isFirstLane = isFirst(code.binary<arith::RemUIOp>(code.thread, SplitShape::kLanes));
  code.emitIf(both(isThere, isFirstLane), [&] {
    store(counts.weight(row, inRow), sum);
    code.emitIf(isFirst(node.first), [&] { store(counts.maximum(row, node.chunk), sums[1]); });
  });
}
