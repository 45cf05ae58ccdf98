// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitWeights.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::Elementary;

static constexpr int64_t kPartThreads = SplitShape::kPartThreads;

void SplitWeights::writeMaxima(const Tile &tile, Value chunk) {
  code.loop(warp(), code.i32(shape.rows), code.i32(kPartThreads / kWarpThreads), [&](Value row) {
    Value maximum = maximumUpTo(rowInTile(tile, row), chunk);
    code.emitIf(isFirst(lane()), [&] { code.store(code.shared(shape.ofRows()), row, maximum); });
  });
}

// Rows that the tile lacks are the last one.
Value SplitWeights::rowInTile(const Tile &tile, Value row) {
  Value last = code.sub(code.sub(tile.rows, tile.firstRow), code.i32(1));
  return counts.rowNumber(tile, code.binary<arith::MinUIOp>(row, last));
}

void SplitWeights::copyScores(const Tile &tile, const Part &leaf) {
  int64_t ofChunk = kChunkBytes / shape.bytes, chunks = shape.keysOfLeaf() / ofChunk;
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  code.loop(code.thread, code.i32(shape.rows * chunks), code.i32(kPartThreads), [&](Value number) {
    Value row = code.binary<arith::DivUIOp>(number, chunks);
    Value key = code.binary<arith::MulIOp>(code.binary<arith::RemUIOp>(number, chunks), ofChunk);
    Value inChunk = code.add(leaf.first, code.resized(key, 64));
    Value score = code.add(counts.score(rowInTile(tile, row), leaf.chunk), inChunk);
    Value place = code.add(code.binary<arith::MulIOp>(row, shape.weightStride()), key);
    // A slab that has keys is written to its end.
    Value isThere = code.isBelow(code.resized(key, 64), leaf.count);
    NVVM::CpAsyncOp::create(
        builder, code.loc, code.at(code.shared(shape.weights()), code.accumulator, place),
        LLVM::AddrSpaceCastOp::create(builder, code.loc, global, code.at(scratch, code.accumulator, score)),
        kChunkBytes, NVVM::LoadCacheModifierKind::CG,
        code.select(isThere, code.i32(kChunkBytes), code.i32(0)));
  });
}

// Keys behind the last one have the weight -0: it changes no sum, nor where it multiplies the +0 of a value
// that is not there.
void SplitWeights::writeWeights(const Part &leaf) {
  Value count = code.resized(leaf.count, 32), weights = code.shared(shape.weights());
  forEachRow([&](Value row, ArrayRef<Value> keys, ArrayRef<Value> places) {
    Value shift = code.orZero(code.load(code.shared(shape.ofRows()), code.accumulator, row));
    SmallVector<Value> exponents;
    for (Value place : places)
      exponents.push_back(code.binary<arith::SubFOp>(code.load(weights, code.accumulator, place), shift));
    for (auto [i, weight] : llvm::enumerate(code.applyAll(Elementary::Exp, exponents))) {
      Value number = shape.sumsInLeaves() ? weight : code.rounded(weight, attention.element);
      code.store(weights, places[i], code.select(code.isBelow(keys[i], count), number, code.real(-0.0)));
    }
  });
}

// Tensor cores take rounded numbers themselves.
void SplitWeights::roundWeights() {
  if (shape.tensorCores || attention.element == code.accumulator)
    return;
  code.synchronize();
  Value weights = code.shared(shape.weights());
  forEachRow([&](Value, ArrayRef<Value>, ArrayRef<Value> places) {
    for (Value place : places)
      code.store(weights, place,
                 code.rounded(code.load(weights, code.accumulator, place), attention.element));
  });
}

// A thread has some keys of each row, with their places in shared memory.
void SplitWeights::forEachRow(function_ref<void(Value, ArrayRef<Value>, ArrayRef<Value>)> body) {
  code.loop(code.i32(0), code.i32(shape.rows), code.i32(1), [&](Value row) {
    SmallVector<Value> keys, places;
    for (int64_t first = 0; first < shape.keysOfLeaf(); first += kPartThreads) {
      keys.push_back(code.add(code.thread, first));
      places.push_back(code.add(code.binary<arith::MulIOp>(row, shape.weightStride()), keys.back()));
    }
    body(row, keys, places);
  });
}

//===- Sums ---------------------------------------------------------------===//

void SplitWeights::sumLeaf(const Tile &tile, const Part &leaf, Value number) {
  Value end = endOfLanes(leaf.count);
  code.loop(warp(), code.i32(shape.rows), code.i32(kPartThreads / kWarpThreads), [&](Value row) {
    Value sum = sumLanes(code.binary<arith::MulIOp>(row, shape.weightStride()), shape.weights(), end);
    code.emitIf(both(isFirst(lane()), tiles.isThere(tile, row)), [&] {
      Value inAll = counts.rowNumber(tile, row);
      store(counts.weight(inAll, number), sum);
      store(counts.maximum(inAll, leaf.chunk), code.load(code.shared(shape.ofRows()), code.accumulator, row));
    });
  });
}

Value SplitWeights::endOfLanes(Value count) {
  Value lanes = code.i32(SplitShape::kLanes);
  return code.binary<arith::MulIOp>(code.binary<arith::CeilDivUIOp>(code.resized(count, 32), lanes), lanes);
}

// Behind the last key of a slab, scores are -inf.
void SplitWeights::writeNode(Value scores, Value end, Value shift) {
  int64_t count = llvm::divideCeil(std::min(shape.longestChunk, SplitShape::kNode), kPartThreads);
  SmallVector<Value> keys, exponents;
  for (int64_t i = 0; i < count; ++i) {
    keys.push_back(code.add(code.thread, i * kPartThreads));
    Value inside = code.resized(code.select(code.isBelow(keys[i], end), keys[i], code.i32(0)), 64);
    exponents.push_back(code.binary<arith::SubFOp>(load(code.add(scores, inside)), shift));
  }
  for (auto [i, weight] : llvm::enumerate(code.applyAll(Elementary::Exp, exponents)))
    code.emitIf(code.isBelow(keys[i], end), [&] { code.store(code.shared(0), keys[i], weight); });
}

// A thread has two lanes that are joined first, one warp has all of them.
Value SplitWeights::sumLanes(Value first, int64_t byte, Value end) {
  Value sums[] = {code.real(0), code.real(0)}, half = code.i32(SplitShape::kLanes / 2);
  SmallVector<Value> lanes =
      code.loop(lane(), end, code.i32(SplitShape::kLanes), sums, [&](Value key, ValueRange so) {
        Value place = code.add(first, key);
        auto added = [&](Value sum, Value place) {
          return code.plus(sum, code.load(code.shared(byte), code.accumulator, place));
        };
        return SmallVector<Value>{added(so[0], place), added(so[1], code.add(place, half))};
      });
  Value sum = code.plus(lanes[0], lanes[1]);
  for (int64_t distance = kWarpThreads / 2; distance >= 1; distance /= 2)
    sum = code.plus(sum, code.ofThread(sum, distance));
  return sum;
}

void SplitWeights::sumNode(Value number) {
  Value row = code.binary<arith::DivUIOp>(number, counts.nodes());
  Value inRow = code.binary<arith::RemUIOp>(number, counts.nodes());
  Part node = partAt(inRow, counts.nodesOfChunk, SplitShape::kNode);
  code.emitIf(node.isThere, [&] {
    Value maximum = maximumUpTo(row, node.chunk), end = endOfLanes(node.count);
    code.synchronize();
    writeNode(code.add(counts.score(row, node.chunk), node.first), end, code.orZero(maximum));
    code.synchronize();
    code.emitIf(isFirst(warp()), [&] {
      Value sum = sumLanes(code.i32(0), /*byte=*/0, end);
      code.emitIf(isFirst(lane()), [&] {
        store(counts.weight(row, inRow), sum);
        code.emitIf(isFirst(node.first), [&] { store(counts.maximum(row, node.chunk), maximum); });
      });
    });
  });
}
