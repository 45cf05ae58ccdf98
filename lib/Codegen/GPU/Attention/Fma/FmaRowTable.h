// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What products need to know about each row of a tile, in shared memory: its number, its query, and its first
// element of the mask.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWTABLE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWTABLE_H

#include "../AttentionTiles.h"
#include "FmaGrid.h"

namespace mlir::ad::device {

class FmaRowTable {
public:
  /// At that byte of shared memory.
  FmaRowTable(AttentionCode &code, const FmaGrid &grid, AttentionMemory &memory, AttentionTiles &tiles,
              int64_t byte)
      : code(code), grid(grid), memory(memory), tiles(tiles), byte(byte) {}
  static int64_t bytes(const FmaGrid &grid) { return kTables * grid.rows() * int64_t(sizeof(int64_t)); }

  /// By all threads.
  void write(const AttentionTiles::Tile &tile);
  /// Of a row of the tile (i32).
  Value number(Value row) { return entry(kNumbers, row); }
  /// Without its number.
  AttentionTiles::Row at(Value row);

private:
  static constexpr int64_t kNumbers = 0, kQueries = 1, kMasks = 2, kTables = 3;
  Value table(int64_t number) { return code.shared(byte + number * grid.rows() * int64_t(sizeof(int64_t))); }
  Value entry(int64_t number, Value row) { return code.load(table(number), code.builder.getI64Type(), row); }

  AttentionCode &code;
  const FmaGrid &grid;
  AttentionMemory &memory;
  AttentionTiles &tiles;
  int64_t byte;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWTABLE_H
