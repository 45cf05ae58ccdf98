// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaProducts.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FmaProducts::FmaProducts(AttentionCode &code, const AttentionShape &shape, const FmaShape &layout,
                         AttentionMemory &memory, AttentionTiles &tiles)
    : code(code), shape(shape), layout(layout), memory(memory), tiles(tiles), function(code, shape, memory),
      table(code, layout, memory, tiles, layout.rowTable()),
      scores(code, layout, memory, shape.depth, layout.stagedRows(), layout.stagedKeys()),
      values(code, layout, memory,
             {shape.width, layout.rowsOfThread, layout.scoreStride(), layout.stagedValues()}) {}

// Keys behind the last one are the last one again.
void FmaProducts::writeScores(const Tile &tile, Value first, Value count) {
  Value threadRow = code.binary<arith::DivUIOp>(code.thread, FmaShape::kSide);
  Value threadColumn = code.binary<arith::RemUIOp>(code.thread, FmaShape::kSide);
  Value last = code.sub(count, code.i32(1));
  code.loop(code.i32(0), count, code.i32(FmaShape::kSlabKeys), [&](Value slab) {
    auto numberOfKey = [&](Value key) {
      Value inChunk = code.binary<arith::MinUIOp>(code.add(slab, key), last);
      return tiles.numberOfKey(tile, code.add(first, code.resized(inChunk, 64)));
    };
    SmallVector<Value> sums = scores.multiply({memory.query, [&](Value row) { return table.number(row); }},
                                              {memory.key, numberOfKey});
    for (int64_t i = 0; i < layout.rowsOfThread; ++i) {
      Value number = code.add(code.binary<arith::MulIOp>(threadRow, layout.rowsOfThread), i);
      AttentionTiles::Row row = table.at(number);
      ScoreFunction::Range range = function.rangeOf(row, first, count);
      for (int64_t j = 0; j < layout.keysOfThread(); ++j) {
        Value key = code.add(slab, code.add(threadColumn, j * FmaShape::kSide));
        Value score = function.bounded(sums[i * layout.keysOfThread() + j]);
        Value place = code.add(code.binary<arith::MulIOp>(number, layout.scoreStride()), key);
        code.store(code.shared(layout.scores()), place, function.masked(score, row, range, first, key));
      }
    }
  });
}

Value FmaProducts::columnOfSum(const Tile &tile, int64_t number) {
  return code.add(tile.firstColumn, code.resized(values.columnOfSum(number), 64));
}

SmallVector<Value> FmaProducts::addValues(const Tile &tile, Value first, Value count, ValueRange sums) {
  auto keyAt = [&](Value k) -> FmaColumnProducts::Row {
    return {tiles.numberOfKey(tile, code.add(first, code.resized(k, 64))), code.isBelow(k, count)};
  };
  return values.add({layout.scores(), memory.value, keyAt, count, tile.firstColumn}, sums);
}
