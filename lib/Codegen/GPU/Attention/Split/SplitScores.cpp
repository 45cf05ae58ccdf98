// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitScores.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::canonicalBlock;

// Keys of a warp, as columns of `mma.sync`.
static constexpr int64_t kColumnTiles = kWarpThreads / SplitShape::kN;

SplitScores::SplitScores(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                         const SplitShape &shape)
    : SplitKernel(function, kernel, attention, shape, shape.rows, attention.width),
      staging(code, SplitShape::kThreads), function(code, attention, memory),
      tensorCores(code, attention.element, shape.rows) {
  int64_t blocks = llvm::divideCeil(attention.depth, canonicalBlock);
  if (blocks > 1)
    depthBlocks.emplace(code, sumCount(), 1 + llvm::Log2_64_Ceil(blocks));
}

Value SplitScores::unitCount(AttentionCode &code, AttentionTiles &tiles, SplitCounts &counts) {
  return code.binary<arith::MulIOp>(tiles.count(), counts.slabs());
}

void SplitScores::emit() {
  Value slabs = counts.slabs();
  forEachUnit(unitCount(code, tiles, counts), [&](Value unit) {
    Value number = code.binary<arith::RemUIOp>(unit, slabs);
    Tile tile = tiles.tileAt(code.binary<arith::DivUIOp>(unit, slabs));
    Part slab = partAt(number, counts.slabsOfChunk, SplitShape::kSlab);
    code.emitIf(both(slab.isThere, code.isBelow(tile.firstRow, tile.rows)),
                [&] { emitSlab(tile, slab, number); });
  });
}

//===- Products -----------------------------------------------------------===//

// Elements behind the end of rows are -0, those of keys +0: their product -0 changes no sum.
void SplitScores::stageQueries(const Tile &tile, Value depth) {
  code.forEach(shape.rows * shape.slice, SplitShape::kThreads, [&](Value number) {
    Value row = code.binary<arith::DivUIOp>(number, shape.slice);
    Value column = code.binary<arith::RemUIOp>(number, shape.slice);
    Value element = code.add(depth, column), isThere = code.isBelow(element, code.i32(attention.depth));
    Value inside = code.resized(code.select(isThere, element, code.i32(0)), 64);
    Value first = code.binary<arith::MulIOp>(tiles.rowOf(tile, row).number, attention.depth);
    Value loaded = memory.loadWide(memory.query, code.add(first, inside));
    Value place = code.add(code.binary<arith::MulIOp>(row, shape.queryStride()), column);
    code.store(code.shared(shape.queries()), place, code.select(isThere, loaded, code.real(-0.0)));
  });
}

void SplitScores::stageKeys(const Tile &tile, const Part &slab, Value depth) {
  staging.copy({memory.key, attention.depth, SplitShape::kSlab, shape.slice, shape.slicePitch()}, code.i32(0),
               tiles.numberOfKey(tile, slab.firstKey), slab.count, code.resized(depth, 64));
}

int64_t SplitScores::sumCount() const { return shape.tensorCores ? 4 * kColumnTiles : shape.rows; }

SmallVector<Value> SplitScores::addSlice(Value count, ValueRange sums) {
  Value key = code.binary<arith::MulIOp>(code.thread, shape.slicePitch());
  return code.loop(code.i32(0), count, code.i32(shape.depthVector), sums, [&](Value step, ValueRange before) {
    Value byte = code.add(key, code.binary<arith::MulIOp>(step, shape.elementBytes));
    SmallVector<Value> keys = staging.load(attention.element, byte, shape.depthVector), next(before);
    int64_t vector = std::min(shape.depthVector, kAccessBytes / shape.bytes);
    for (int64_t d = 0; d < shape.depthVector; d += vector)
      for (auto [row, sum] : llvm::enumerate(next)) {
        Value place = code.add(step, static_cast<int64_t>(row) * shape.queryStride() + d);
        SmallVector<Value> query = code.loadVector(code.shared(shape.queries()), place, vector);
        for (int64_t i = 0; i < vector; ++i)
          sum = code.fma(query[i], keys[d + i], sum);
      }
    return next;
  });
}

SmallVector<Value> SplitScores::addSliceOnTensorCores(Value count, ValueRange sums) {
  Value firstKey = code.binary<arith::MulIOp>(warp(), kWarpThreads);
  return code.loop(code.i32(0), count, code.i32(SplitShape::kK), sums, [&](Value k, ValueRange before) {
    SmallVector<Value> next, rows = tensorCores.rowsAt(shape.queries(), shape.queryStride(), k);
    for (int64_t tile = 0; tile < kColumnTiles; ++tile) {
      Value byte = code.binary<arith::MulIOp>(code.add(firstKey, tile * SplitShape::kN), shape.slicePitch());
      SmallVector<Value> columns = tensorCores.columnsAt(byte, shape.slicePitch(), k);
      Fragment sums;
      llvm::copy(before.slice(4 * tile, 4), sums.begin());
      llvm::append_range(next, tensorCores.multiply(rows, columns, sums));
    }
    return next;
  });
}

SmallVector<Value> SplitScores::chain(const Tile &tile, const Part &slab, int64_t lower, int64_t upper) {
  SmallVector<Value> zeros(sumCount(), code.real(0));
  Value step = code.i32(shape.slice);
  return code.loop(code.i32(lower), code.i32(upper), step, zeros, [&](Value depth, ValueRange sums) {
    code.synchronize();
    stageKeys(tile, slab, depth);
    staging.commit();
    stageQueries(tile, depth);
    staging.wait(0);
    Value count = step;
    if ((upper - lower) % shape.slice != 0)
      count = code.binary<arith::MinUIOp>(code.sub(code.i32(upper), depth), step);
    return shape.tensorCores ? addSliceOnTensorCores(count, sums) : addSlice(count, sums);
  });
}

SmallVector<Value> SplitScores::products(const Tile &tile, const Part &slab) {
  if (!depthBlocks)
    return chain(tile, slab, 0, attention.depth);
  PairwiseStack::State state = depthBlocks->empty();
  for (int64_t lower = 0; lower < attention.depth; lower += canonicalBlock)
    state =
        depthBlocks->push(state, chain(tile, slab, lower, std::min(lower + canonicalBlock, attention.depth)));
  return depthBlocks->total(state);
}

// Fragments pass through shared memory to the threads of their keys.
SmallVector<Value> SplitScores::ofKey(ValueRange fragments) {
  Value exchange = code.shared(shape.exchange()), firstKey = code.binary<arith::MulIOp>(warp(), kWarpThreads);
  for (auto [number, sum] : llvm::enumerate(fragments)) {
    auto tile = static_cast<int64_t>(number / 4), row = static_cast<int64_t>(number % 4 / 2);
    Value inTile = tensorCores.rowOfThread(row);
    Value key =
        code.add(firstKey, code.add(tensorCores.columnOfThread(), tile * SplitShape::kN + number % 2));
    Value place = code.add(code.binary<arith::MulIOp>(inTile, shape.exchangeStride()), key);
    code.emitIf(code.isBelow(inTile, code.i32(shape.rows)), [&] { code.store(exchange, place, sum); });
  }
  code.synchronize();
  SmallVector<Value> sums;
  for (int64_t row = 0; row < shape.rows; ++row)
    sums.push_back(
        code.load(exchange, code.accumulator, code.add(code.thread, row * shape.exchangeStride())));
  return sums;
}

//===- Scores -------------------------------------------------------------===//

void SplitScores::emitSlab(const Tile &tile, const Part &slab, Value number) {
  SmallVector<Value> scores = products(tile, slab);
  if (shape.tensorCores)
    scores = ofKey(scores);
  Value count = code.resized(slab.count, 32);
  Value inChunk = code.add(slab.first, code.resized(code.thread, 64));
  for (auto [i, score] : llvm::enumerate(scores)) {
    Value inTile = code.i32(static_cast<int64_t>(i));
    AttentionTiles::Row row = tiles.rowOf(tile, inTile);
    ScoreFunction::Range range = function.rangeOf(row, slab.firstKey, count);
    score = function.masked(function.bounded(score), row, range, slab.firstKey, code.thread);
    code.emitIf(tiles.isThere(tile, inTile), [&] {
      store(code.add(counts.score(counts.rowNumber(tile, inTile), slab.chunk), inChunk), score);
    });
  }
  storeMaxima(tile, scores, number);
}

void SplitScores::storeMaxima(const Tile &tile, ArrayRef<Value> scores, Value number) {
  Value ofWarps = code.shared(shape.maxima());
  for (auto [row, score] : llvm::enumerate(scores)) {
    Value largest = score;
    for (int64_t distance = 1; distance < kWarpThreads; distance *= 2)
      largest = code.binary<arith::MaximumFOp>(largest, code.ofThread(largest, distance));
    code.emitIf(isFirst(lane()), [&] {
      code.store(ofWarps, code.add(warp(), static_cast<int64_t>(row) * SplitShape::kWarps), largest);
    });
  }
  code.synchronize();
  Value isRow = both(code.isBelow(code.thread, code.i32(shape.rows)), tiles.isThere(tile, code.thread));
  code.emitIf(isRow, [&] {
    Value first = code.binary<arith::MulIOp>(code.thread, SplitShape::kWarps);
    Value largest = code.load(ofWarps, code.accumulator, first);
    for (int64_t warp = 1; warp < SplitShape::kWarps; ++warp)
      largest = code.binary<arith::MaximumFOp>(largest,
                                               code.load(ofWarps, code.accumulator, code.add(first, warp)));
    store(counts.slabMaximum(counts.rowNumber(tile, code.thread), number), largest);
  });
}
