// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaRowTable.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

void FmaRowTable::write(const AttentionTiles::Tile &tile) {
  code.forEach(grid.rows(), FmaGrid::kThreads, [&](Value number) {
    AttentionTiles::Row row = tiles.rowOf(tile, number);
    code.store(table(kNumbers), number, row.number);
    code.store(table(kQueries), number, row.query);
    if (row.mask)
      code.store(table(kMasks), number, row.mask);
  });
}

AttentionTiles::Row FmaRowTable::at(Value row) {
  return {Value(), entry(kQueries, row), memory.mask.pointer ? entry(kMasks, row) : Value()};
}
