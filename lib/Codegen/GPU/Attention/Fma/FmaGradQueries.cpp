// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaGradQueries.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FmaGradQueries::FmaGradQueries(AttentionCode &code, const AttentionShape &shape, const FmaGradShape &layout,
                               AttentionMemory &memory)
    : code(code), shape(shape), layout(layout), memory(memory),
      tiles(code, shape, memory, layout.rows(), layout.columns(), shape.depth),
      scores(code, shape, layout, memory, tiles),
      products(code, layout, memory,
               {shape.depth, layout.rowsOfThread, layout.strideOfRow(), layout.stagedColumns()}),
      chains(code, products.sumCount(), shape.mostKeysOfChunk().value_or(kMaxMemoryBytes)) {}

void FmaGradQueries::emit() {
  tiles.forEach([&](const Tile &tile) { emitTile(tile); });
}

void FmaGradQueries::emitTile(const Tile &tile) {
  code.synchronize();
  scores.writeRows(tile);
  code.synchronize();
  ChunkRange chunks(code, shape, memory, tiles, tile);
  SmallVector<Value> zeros(products.sumCount(), code.real(0));
  store(tile, code.loop(chunks.begin, chunks.end, code.i64(1), zeros, [&](Value number, ValueRange before) {
    SmallVector<Value> sums = ofChunk(tile, chunks.firstKey(number), chunks.count(number));
    for (auto [sum, whole] : llvm::zip_equal(sums, before))
      sum = code.plus(whole, sum);
    return sums;
  }));
}

SmallVector<Value> FmaGradQueries::ofChunk(const Tile &tile, Value first, Value count) {
  Value slabs = code.i64(FmaGrid::kSlabKeys);
  SmallVector<Value> state =
      code.loop(code.i64(0), count, slabs, chains.start(), [&](Value begin, ValueRange before) {
        Value some = code.binary<arith::MinUIOp>(code.sub(count, begin), slabs);
        Keys keys{code.add(first, begin), code.resized(some, 32)};
        return chains.next(before, addSlab(tile, keys, chains.chains(before)), code.add(begin, slabs), count);
      });
  return chains.total(state);
}

// Behind the last key, factors are -0.
SmallVector<Value> FmaGradQueries::addSlab(const Tile &tile, const Keys &keys, ValueRange sums) {
  AttentionCode::OwnThread thread(code);
  SmallVector<Value> factors = scores.factors(tile, keys).products;
  for (auto [number, factor] : llvm::enumerate(factors)) {
    auto place = static_cast<int64_t>(number);
    Value row = scores.rowOf(place / layout.keysOfThread()),
          key = scores.keyOf(place % layout.keysOfThread());
    Value x = code.select(code.isBelow(key, keys.count), factor, code.real(-0.0));
    code.store(code.shared(layout.products()),
               code.add(code.binary<arith::MulIOp>(row, layout.strideOfRow()), key), x);
  }
  auto keyAt = [&](Value k) -> FmaColumnProducts::Row {
    return {tiles.numberOfKey(tile, code.add(keys.first, code.resized(k, 64))), code.isBelow(k, keys.count)};
  };
  return products.add({layout.products(), memory.key, keyAt, keys.count, tile.firstColumn}, sums);
}

void FmaGradQueries::store(const Tile &tile, ValueRange sums) {
  for (int64_t place = 0; place < products.sumCount(); ++place) {
    Value row = products.rowOfSum(place);
    Value column = code.add(tile.firstColumn, code.resized(products.columnOfSum(place), 64));
    Value isOwn =
        code.binary<arith::AndIOp>(tiles.isThere(tile, row), code.isBelow(column, code.i64(shape.depth)));
    code.emitIf(isOwn, [&] {
      Value first = code.binary<arith::MulIOp>(tiles.rowOf(tile, row).number, shape.depth);
      memory.store(memory.queryGrad, code.add(first, column), sums[place]);
    });
  }
}
