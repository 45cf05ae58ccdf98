// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The cotangents of queries by FMA: a block of threads has a tile of rows and goes through the chunks of keys
// in ascending order.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADQUERIES_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADQUERIES_H

#include "../BlockChains.h"
#include "../ChunkRange.h"
#include "FmaColumnProducts.h"
#include "FmaGradScores.h"

namespace mlir::ad::device {

class FmaGradQueries {
public:
  FmaGradQueries(AttentionCode &code, const AttentionShape &shape, const FmaGradShape &layout,
                 AttentionMemory &memory);
  void emit();

private:
  using Tile = AttentionTiles::Tile;
  using Keys = FmaGradScores::Keys;
  void emitTile(const Tile &tile);
  /// What a chunk gives, whose first key and number of keys those are (i64).
  SmallVector<Value> ofChunk(const Tile &tile, Value first, Value count);
  SmallVector<Value> addSlab(const Tile &tile, const Keys &keys, ValueRange sums);
  void store(const Tile &tile, ValueRange sums);

  AttentionCode &code;
  const AttentionShape &shape;
  const FmaGradShape &layout;
  AttentionMemory &memory;
  AttentionTiles tiles;
  FmaGradScores scores;
  FmaColumnProducts products;
  BlockChains chains;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADQUERIES_H
