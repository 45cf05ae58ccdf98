// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitCounts.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

SplitCounts::SplitCounts(AttentionCode &code, const AttentionShape &shape, const AttentionMemory &memory,
                         AttentionTiles &tiles)
    : code(code), shape(shape) {
  Value length = tiles.keysOfChunk();
  Value longest = code.binary<arith::MaxUIOp>(code.binary<arith::MinUIOp>(length, memory.keys), 1);
  auto parts = [&](int64_t keys) { return code.binary<arith::CeilDivUIOp>(longest, code.i64(keys)); };
  chunks = code.binary<arith::CeilDivUIOp>(memory.keys, length);
  slabsOfChunk = parts(SplitShape::kSlab);
  leavesOfChunk = parts(SplitShape::kLeaf);
  nodesOfChunk = parts(SplitShape::kNode);
  rows = times(memory.batch, code.i64(shape.groups * shape.rowsOfBlock()));
}

Value SplitCounts::rowNumber(const AttentionTiles::Tile &tile, Value row) {
  Value sequence = add(times(tile.batch, code.i64(shape.groups)), tile.group);
  Value inBlock = code.resized(code.add(tile.firstRow, row), 64);
  return add(times(sequence, code.i64(shape.rowsOfBlock())), inBlock);
}

Value SplitCounts::bytes() {
  Value numbers = add(products(), times(rows, times(leaves(), code.i64(shape.width))));
  Value bytes = times(numbers, code.i64(code.accumulator.getIntOrFloatBitWidth() / 8));
  return code.binary<arith::MaxUIOp>(bytes, 1);
}
