// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaGradQueries.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

MmaGradQueries::MmaGradQueries(AttentionCode &code, const AttentionShape &attention,
                               const MmaGradShape &shape, AttentionMemory &memory)
    : code(code), attention(attention), shape(shape), memory(memory),
      tiles(code, attention, memory, shape.rows(), shape.depth, shape.depth),
      function(code, attention, memory), factors(code, attention, function),
      staging(code, attention, shape, memory), mma(code, attention.element),
      chains(code, shape.depth / 2, attention.mostKeysOfChunk().value_or(kMaxMemoryBytes)) {}

void MmaGradQueries::emit() {
  tiles.forEach([&](const Tile &tile) { emitTile(tile); });
}

// Whether no step has less keys than others.
bool MmaGradQueries::hasWholeSteps() const {
  std::optional<int64_t> chunk = attention.mostKeysOfChunk();
  int64_t keys = attention.key.getDimSize(2);
  return chunk && *chunk > 0 && !ShapedType::isDynamic(keys) && *chunk % shape.step() == 0 &&
         keys % *chunk == 0;
}

void MmaGradQueries::emitTile(const Tile &tile) {
  ChunkRange chunks(code, attention, memory, tiles, tile);
  Rows rows = loadRows(tile);
  code.synchronize();
  code.emitIf(code.isBelow(chunks.begin, chunks.end), [&] {
    staging.copyOwn(
        {memory.query, memory.cotangent, [&](Value row) { return tiles.rowOf(tile, row).number; }, nullptr});
    Value first = chunks.firstKey(chunks.begin);
    copyStep(tile, code.i32(0), {first, code.add(first, chunks.count(chunks.begin))});
  });
  staging.commit();
  SmallVector<Value> start = flatten(mma.zeros(shape.depth));
  start.push_back(code.i32(0));
  SmallVector<Value> all =
      code.loop(chunks.begin, chunks.end, code.i64(1), start, [&](Value chunk, ValueRange before) {
        Value first = chunks.firstKey(chunk), end = code.add(first, chunks.count(chunk));
        SmallVector<Value> none = chains.start();
        none.push_back(before.back());
        SmallVector<Value> last =
            code.loop(first, end, code.i64(shape.step()), none, [&](Value key, ValueRange sums) {
              Keys keys{key, end};
              staging.wait();
              copyNext(tile, chunks, chunk, keys, sums.back());
              ValueRange state = sums.drop_back();
              SmallVector<Fragment> added =
                  addStep(tile, rows, keys, sums.back(), fragmentsFrom(chains.chains(state)));
              SmallVector<Value> next = chains.next(
                  state, flatten(added), code.add(code.sub(key, first), shape.step()), code.sub(end, first));
              next.push_back(code.binary<arith::XOrIOp>(sums.back(), 1));
              return next;
            });
        SmallVector<Value> next = chains.total(ArrayRef(last).drop_back());
        for (auto [sum, whole] : llvm::zip(next, before))
          sum = code.plus(whole, sum);
        next.push_back(last.back());
        return next;
      });
  all.pop_back();
  store(tile, fragmentsFrom(all));
}

MmaGradQueries::Rows MmaGradQueries::loadRows(const Tile &tile) {
  Rows rows;
  for (int64_t row = 0; row < 2; ++row) {
    Value number = tiles.rowOf(tile, mma.rowOfThread(row)).number;
    rows.logSums[row] = code.orZero(memory.load(memory.logSum, number));
    rows.deltas[row] = memory.load(memory.delta, number);
  }
  return rows;
}

void MmaGradQueries::copyStep(const Tile &tile, Value stage, const Keys &keys) {
  auto keyOf = [&](Value row) { return code.add(keys.first, code.resized(row, 64)); };
  auto isThere = [&](Value row) { return code.isBelow(keyOf(row), keys.end); };
  auto number = [&](Value row) { return tiles.numberOfKey(tile, keyOf(row)); };
  MmaGradStaging::Source source{memory.key, memory.value, number, isThere};
  if (hasWholeSteps())
    source.isThere = nullptr;
  staging.copyStep(stage, source);
}

// The rest of the chunk, or the next one.
void MmaGradQueries::copyNext(const Tile &tile, ChunkRange &chunks, Value chunk, const Keys &keys,
                              Value stage) {
  Value next = code.add(chunk, 1), first = code.add(keys.first, shape.step());
  Value isSame = code.isBelow(first, keys.end), firstOfNext = chunks.firstKey(next);
  Keys ahead{code.select(isSame, first, firstOfNext),
             code.select(isSame, keys.end, code.add(firstOfNext, chunks.count(next)))};
  code.emitIf(code.binary<arith::OrIOp>(isSame, code.isBelow(next, chunks.end)),
              [&] { copyStep(tile, code.binary<arith::XOrIOp>(stage, 1), ahead); });
  staging.commit();
}

SmallVector<Fragment> MmaGradQueries::addStep(const Tile &tile, const Rows &rows, const Keys &keys,
                                              Value stage, ArrayRef<Fragment> sums) {
  Value left = code.sub(keys.end, keys.first), pair = mma.columnOfThread();
  Value count = hasWholeSteps() ? code.i32(shape.step())
                                : code.resized(code.binary<arith::MinUIOp>(left, code.i64(shape.step())), 32);
  Value firstQuery = tile.firstQuery;
  if (attention.headsOfGroup() == 1)
    firstQuery = code.add(firstQuery, code.resized(tile.firstRow, 64));
  Value endKey = code.add(keys.first, code.resized(count, 64));
  Value hides = function.mayHide(firstQuery, code.add(tile.firstQuery, tile.queries), keys.first, endKey);
  auto keyOf = [&](int64_t fragment, int64_t i) { return code.add(pair, fragment * MmaShape::kN + i % 2); };
  auto mask = [&](Value score, int64_t fragment, int64_t i) {
    AttentionTiles::Row row = tiles.rowOf(tile, mma.rowOfThread(i / 2));
    ScoreFunction::Range range = function.rangeOf(row, keys.first, count);
    return function.masked(score, row, range, keys.first, keyOf(fragment, i));
  };
  auto logSum = [&](int64_t, int64_t i) { return rows.logSums[i / 2]; };
  auto delta = [&](int64_t, int64_t i) { return rows.deltas[i / 2]; };
  auto isThere = [&](int64_t fragment, int64_t i) { return code.isBelow(keyOf(fragment, i), count); };
  MmaGradFactors::Tile ofTile{logSum, delta, isThere, attention.mask ? Value() : hides, mask};
  if (hasWholeSteps())
    ofTile.isThere = nullptr;
  MmaGradFactors::Factors found = factors.of(ofTile, staging.products(MmaGradShape::ofDepth, stage),
                                             staging.products(MmaGradShape::ofWidth, stage));
  return staging.add(MmaGradShape::ofDepth, stage, found.products, sums);
}

void MmaGradQueries::store(const Tile &tile, ArrayRef<Fragment> sums) {
  for (int64_t row = 0; row < 2; ++row) {
    Value inTile = mma.rowOfThread(row);
    code.emitIf(tiles.isThere(tile, inTile), [&] {
      mma.store(memory.queryGrad.pointer, tiles.rowOf(tile, inTile).number, shape.depth, sums, row);
    });
  }
}
