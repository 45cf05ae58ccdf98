// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaGradKeys.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

MmaGradKeys::MmaGradKeys(AttentionCode &code, const AttentionShape &attention, const MmaGradShape &shape,
                         AttentionMemory &memory)
    : code(code), attention(attention), shape(shape), memory(memory),
      rows(code, attention, memory, shape.step(), shape.width),
      tiles(code, attention, memory, rows, shape.rows(), /*panels=*/1), function(code, attention, memory),
      factors(code, attention, function), staging(code, attention, shape, memory),
      mma(code, attention.element),
      chains(code, (shape.depth + shape.width) / 2, attention.headsOfGroup() * kAttentionQueries),
      total(code, (shape.depth + shape.width) / 2) {}

MmaGradKeys::Sums MmaGradKeys::sumsFrom(ValueRange all) {
  size_t ofKeys = shape.depth / 2;
  return {fragmentsFrom(all.take_front(ofKeys)), fragmentsFrom(all.drop_front(ofKeys))};
}

static SmallVector<Value> flattenBoth(ArrayRef<Fragment> keys, ArrayRef<Fragment> values) {
  SmallVector<Value> all = flatten(keys);
  llvm::append_range(all, flatten(values));
  return all;
}

void MmaGradKeys::emit() {
  tiles.forEach([&](const Tile &tile) { emitTile(tile); });
}

// Whether no step has less rows than others.
bool MmaGradKeys::hasWholeSteps() const {
  int64_t queries = attention.query.getDimSize(2);
  return !ShapedType::isDynamic(queries) &&
         queries % kAttentionQueries * attention.headsOfGroup() % shape.step() == 0;
}

void MmaGradKeys::emitTile(const Tile &tile) {
  QueryBlockRange blocks(code, attention, memory, tile.chunkBegin, tile.chunkEnd);
  AttentionTiles::Tile group = tiles.rowsOf(tile, blocks.begin, code.i32(0));
  code.synchronize();
  code.emitIf(code.isBelow(blocks.begin, blocks.end), [&] {
    Value last = code.sub(tile.count, code.i32(1));
    auto number = [&](Value row) {
      Value there = code.resized(code.binary<arith::MinUIOp>(row, last), 64);
      return rows.numberOfKey(group, code.add(tile.firstKey, there));
    };
    staging.copyOwn({memory.key, memory.value, number, nullptr});
    copyStep(code.i32(0), group);
  });
  staging.commit();
  total.clear();
  code.loop(blocks.begin, blocks.end, code.i64(1), code.i32(0), [&](Value block, ValueRange stage) {
    SmallVector<Value> start = chains.start();
    start.push_back(stage.front());
    Value end = tiles.rowsOf(tile, block, code.i32(0)).rows;
    SmallVector<Value> sums =
        code.loop(code.i32(0), end, code.i32(shape.step()), start, [&](Value row, ValueRange before) {
          Slab slab = tiles.rowsOf(tile, block, row);
          staging.wait();
          copyNext(tile, block, blocks.end, slab, before.back());
          ValueRange state = before.drop_back();
          Sums added = addStep(tile, slab, before.back(), sumsFrom(chains.chains(state)));
          SmallVector<Value> next =
              chains.next(state, flattenBoth(added.keys, added.values),
                          code.resized(code.add(row, shape.step()), 64), code.resized(end, 64));
          next.push_back(code.binary<arith::XOrIOp>(before.back(), 1));
          return next;
        });
    total.add(chains.total(ArrayRef(sums).drop_back()));
    return SmallVector<Value>{sums.back()};
  });
  store(tile, sumsFrom(total.load()));
}

void MmaGradKeys::copyStep(Value stage, const Slab &slab) {
  auto number = [&](Value row) { return rows.rowOf(slab, row).number; };
  auto isThere = [&](Value row) { return rows.isThere(slab, row); };
  MmaGradStaging::Source source{memory.query, memory.cotangent, number, isThere};
  if (hasWholeSteps())
    source.isThere = nullptr;
  staging.copyStep(stage, source);
  staging.copyStatistics(stage, number);
}

// The rest of the block, or the next one.
void MmaGradKeys::copyNext(const Tile &tile, Value block, Value endBlock, const Slab &slab, Value stage) {
  Value next = code.add(block, 1), row = code.add(slab.firstRow, shape.step());
  Value isSame = code.isBelow(row, slab.rows);
  Slab ahead = tiles.rowsOf(tile, code.select(isSame, block, next), code.select(isSame, row, code.i32(0)));
  code.emitIf(code.binary<arith::OrIOp>(isSame, code.isBelow(next, endBlock)),
              [&] { copyStep(code.binary<arith::XOrIOp>(stage, 1), ahead); });
  staging.commit();
}

MmaGradKeys::Sums MmaGradKeys::addStep(const Tile &tile, const Slab &slab, Value stage, const Sums &sums) {
  Value pair = mma.columnOfThread();
  auto rowOf = [&](int64_t fragment, int64_t i) { return code.add(pair, fragment * MmaShape::kN + i % 2); };
  auto mask = [&](Value score, int64_t fragment, int64_t i) {
    AttentionTiles::Row row = rows.rowOf(slab, rowOf(fragment, i));
    ScoreFunction::Range range = function.rangeOf(row, tile.firstKey, tile.count);
    return function.masked(score, row, range, tile.firstKey, mma.rowOfThread(i / 2));
  };
  SmallVector<MmaGradStaging::Statistics> statistics;
  for (int64_t fragment = 0; fragment < shape.step() / MmaShape::kN; ++fragment)
    statistics.push_back(staging.statistics(stage, fragment));
  auto logSum = [&](int64_t fragment, int64_t i) { return statistics[fragment].logSums[i % 2]; };
  auto delta = [&](int64_t fragment, int64_t i) { return statistics[fragment].deltas[i % 2]; };
  auto isThere = [&](int64_t fragment, int64_t i) { return rows.isThere(slab, rowOf(fragment, i)); };
  MmaGradFactors::Tile ofTile{logSum, delta, isThere, mayHide(tile, slab), mask};
  if (hasWholeSteps())
    ofTile.isThere = nullptr;
  MmaGradFactors::Factors found = factors.of(ofTile, staging.products(MmaGradShape::ofDepth, stage),
                                             staging.products(MmaGradShape::ofWidth, stage));
  return {staging.add(MmaGradShape::ofDepth, stage, found.products, sums.keys),
          staging.add(MmaGradShape::ofWidth, stage, found.weights, sums.values)};
}

// Whether a key of the tile may not count for a row of the slab. Null: always.
Value MmaGradKeys::mayHide(const Tile &tile, const Slab &slab) {
  if (attention.mask)
    return {};
  Value first = slab.firstQuery, end = code.add(first, slab.queries);
  if (attention.headsOfGroup() == 1) {
    first = code.add(first, code.resized(slab.firstRow, 64));
    end = code.binary<arith::MinUIOp>(end, code.add(first, shape.step()));
  }
  Value endKey = code.add(tile.firstKey, code.resized(tile.count, 64));
  return function.mayHide(first, end, tile.firstKey, endKey);
}

void MmaGradKeys::store(const Tile &tile, const Sums &sums) {
  AttentionTiles::Tile group = tiles.rowsOf(tile, code.i64(0), code.i32(0));
  for (int64_t row = 0; row < 2; ++row) {
    Value inTile = mma.rowOfThread(row);
    code.emitIf(code.isBelow(inTile, tile.count), [&] {
      Value number = rows.numberOfKey(group, code.add(tile.firstKey, code.resized(inTile, 64)));
      if (memory.keyGrad.pointer)
        mma.store(memory.keyGrad.pointer, number, shape.depth, sums.keys, row);
      if (memory.valueGrad.pointer)
        mma.store(memory.valueGrad.pointer, number, shape.width, sums.values, row);
    });
  }
}
