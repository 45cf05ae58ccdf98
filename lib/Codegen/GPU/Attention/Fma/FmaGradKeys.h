// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The cotangents of keys and values by FMA: a block of threads has a tile of keys, and goes through the
// blocks of queries in ascending order, whose rows are those of all heads of the group.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADKEYS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADKEYS_H

#include "../BlockChains.h"
#include "../KeyTiles.h"
#include "../QueryBlockRange.h"
#include "../ThreadSums.h"
#include "FmaColumnProducts.h"
#include "FmaGradScores.h"

namespace mlir::ad::device {

class FmaGradKeys {
public:
  FmaGradKeys(AttentionCode &code, const AttentionShape &shape, const FmaGradShape &layout,
              AttentionMemory &memory);
  void emit();

private:
  using Tile = KeyTiles::Tile;
  void emitTile(const Tile &tile);
  /// What a block of queries gives: to the keys, and to the values.
  SmallVector<Value> ofBlock(const Tile &tile, Value block);
  SmallVector<Value> addSlab(const Tile &tile, const AttentionTiles::Tile &slab, ValueRange sums);
  void writeFactors(const AttentionTiles::Tile &slab, int64_t byte, ArrayRef<Value> factors);
  void store(const Tile &tile, const AttentionMemory::Tensor &tensor, FmaColumnProducts &products,
             int64_t length, ValueRange sums);
  Value firstColumn(const Tile &tile) { return code.binary<arith::MulIOp>(tile.panel, layout.columns()); }

  AttentionCode &code;
  const AttentionShape &shape;
  const FmaGradShape &layout;
  AttentionMemory &memory;
  AttentionTiles rows;
  KeyTiles tiles;
  FmaGradScores scores;
  FmaColumnProducts ofKeys, ofValues;
  BlockChains chains;
  ThreadSums total; // a thread lacks registers for those of a block and of all blocks
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADKEYS_H
