// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaGradKeys.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static FmaColumnProducts::Layout layoutOf(const FmaGradShape &layout, int64_t length) {
  return {length, layout.keysOfThread(), layout.strideOfKey(), layout.stagedColumns(),
          layout.stagedQueries()};
}

FmaGradKeys::FmaGradKeys(AttentionCode &code, const AttentionShape &shape, const FmaGradShape &layout,
                         AttentionMemory &memory)
    : code(code), shape(shape), layout(layout), memory(memory),
      rows(code, shape, memory, layout.rows(), layout.columns()),
      tiles(code, shape, memory, rows, FmaGrid::kSlabKeys,
            llvm::divideCeil(std::max(shape.depth, shape.width), layout.columns())),
      scores(code, shape, layout, memory, rows), ofKeys(code, layout, memory, layoutOf(layout, shape.depth)),
      ofValues(code, layout, memory, layoutOf(layout, shape.width)),
      chains(code, 2 * ofKeys.sumCount(), shape.headsOfGroup() * kAttentionQueries),
      total(code, 2 * ofKeys.sumCount()) {}

void FmaGradKeys::emit() {
  tiles.forEach([&](const Tile &tile) { emitTile(tile); });
}

void FmaGradKeys::emitTile(const Tile &tile) {
  QueryBlockRange blocks(code, shape, memory, tile.chunkBegin, tile.chunkEnd);
  total.clear();
  code.loop(blocks.begin, blocks.end, code.i64(1), [&](Value block) { total.add(ofBlock(tile, block)); });
  SmallVector<Value> all = total.load();
  auto half = ArrayRef(all).take_front(ofKeys.sumCount());
  store(tile, memory.keyGrad, ofKeys, shape.depth, half);
  store(tile, memory.valueGrad, ofValues, shape.width, ArrayRef(all).drop_front(half.size()));
}

SmallVector<Value> FmaGradKeys::ofBlock(const Tile &tile, Value block) {
  Value count = code.resized(tiles.rowsOf(tile, block, Value()).rows, 64);
  Value slabs = code.i64(layout.rows());
  SmallVector<Value> state =
      code.loop(code.i64(0), count, slabs, chains.start(), [&](Value begin, ValueRange before) {
        AttentionTiles::Tile slab = tiles.rowsOf(tile, block, code.resized(begin, 32));
        return chains.next(before, addSlab(tile, slab, chains.chains(before)), code.add(begin, slabs), count);
      });
  return chains.total(state);
}

SmallVector<Value> FmaGradKeys::addSlab(const Tile &tile, const AttentionTiles::Tile &slab, ValueRange sums) {
  AttentionCode::OwnThread thread(code);
  code.synchronize();
  scores.writeRows(slab);
  code.synchronize();
  FmaGradScores::Factors factors = scores.factors(slab, {tile.firstKey, tile.count});
  writeFactors(slab, layout.products(), factors.products);
  writeFactors(slab, layout.weights(), factors.weights);
  Value left = code.sub(slab.rows, slab.firstRow);
  Value count = code.binary<arith::MinUIOp>(left, code.i32(layout.rows()));
  auto rowAt = [&](Value k) -> FmaColumnProducts::Row {
    return {scores.numberOfRow(k), code.isBelow(k, count)};
  };
  size_t half = sums.size() / 2;
  SmallVector<Value> next =
      ofKeys.add({layout.products(), memory.query, rowAt, count, firstColumn(tile)}, sums.take_front(half));
  llvm::append_range(next, ofValues.add({layout.weights(), memory.cotangent, rowAt, count, firstColumn(tile)},
                                        sums.drop_front(half)));
  return next;
}

// Keys by rows, which are adjacent for a thread. Behind the last row, factors are -0.
void FmaGradKeys::writeFactors(const AttentionTiles::Tile &slab, int64_t byte, ArrayRef<Value> factors) {
  for (int64_t j = 0; j < layout.keysOfThread(); ++j) {
    SmallVector<Value> column;
    for (int64_t i = 0; i < layout.rowsOfThread; ++i)
      column.push_back(code.select(rows.isThere(slab, scores.rowOf(i)),
                                   factors[i * layout.keysOfThread() + j], code.real(-0.0)));
    Value place = code.binary<arith::MulIOp>(scores.keyOf(j), layout.strideOfKey());
    code.storeVector(code.shared(byte), code.add(place, scores.rowOf(0)), column);
  }
}

void FmaGradKeys::store(const Tile &tile, const AttentionMemory::Tensor &tensor, FmaColumnProducts &products,
                        int64_t length, ValueRange sums) {
  if (!tensor.pointer)
    return;
  AttentionTiles::Tile group = tiles.rowsOf(tile, code.i64(0), code.i32(0));
  for (int64_t place = 0; place < products.sumCount(); ++place) {
    Value key = products.rowOfSum(place);
    Value column = code.add(firstColumn(tile), code.resized(products.columnOfSum(place), 64));
    Value isOwn =
        code.binary<arith::AndIOp>(code.isBelow(key, tile.count), code.isBelow(column, code.i64(length)));
    code.emitIf(isOwn, [&] {
      Value first = rows.numberOfKey(group, code.add(tile.firstKey, code.resized(key, 64)));
      memory.store(tensor, code.add(code.binary<arith::MulIOp>(first, length), column), sums[place]);
    });
  }
}
