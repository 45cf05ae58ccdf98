// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where the tiles of cotangents of keys and values are: a tile has adjacent keys of one chunk and group, and
// some columns.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_KEYTILES_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_KEYTILES_H

#include "AttentionTiles.h"

namespace mlir::ad::device {

class KeyTiles {
public:
  KeyTiles(AttentionCode &code, const AttentionShape &shape, const AttentionMemory &memory,
           AttentionTiles &rows, int64_t keysOfTile, int64_t panels);

  struct Tile {
    Value batch, group;         ///< i64
    Value firstKey;             ///< i64
    Value count;                ///< of keys (i32)
    Value chunkBegin, chunkEnd; ///< keys of its chunk (i64)
    Value panel;                ///< of columns (i64)
  };
  /// Blocks of threads take tiles by turns. Those with most queries come first where causal hides some.
  void forEach(function_ref<void(const Tile &)> body);
  /// Rows of a block of queries, from one on (i32), of the group of the keys.
  AttentionTiles::Tile rowsOf(const Tile &tile, Value block, Value firstRow);

private:
  Tile tileAt(Value number);

  AttentionCode &code;
  const AttentionShape &shape;
  const AttentionMemory &memory;
  const int64_t keysOfTile, panels;
  Value keysOfChunk, tilesOfChunk, tilesOfChunks; // of all sequences those of one chunk (i64)
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_KEYTILES_H
