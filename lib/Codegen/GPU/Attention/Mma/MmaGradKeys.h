// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The cotangents of keys and values on tensor cores: a warp has 16 keys, and the blocks of queries pass by in
// ascending order, whose rows are those of all heads of the group.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADKEYS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADKEYS_H

#include "../BlockChains.h"
#include "../KeyTiles.h"
#include "../QueryBlockRange.h"
#include "../ThreadSums.h"
#include "MmaGradFactors.h"
#include "MmaGradStaging.h"

namespace mlir::ad::device {

class MmaGradKeys {
public:
  MmaGradKeys(AttentionCode &code, const AttentionShape &attention, const MmaGradShape &shape,
              AttentionMemory &memory);
  void emit();

private:
  using Tile = KeyTiles::Tile;
  using Slab = AttentionTiles::Tile; ///< rows of a block that pass by at once
  struct Sums {
    SmallVector<Fragment> keys, values;
  };
  Sums sumsFrom(ValueRange all);

  void emitTile(const Tile &tile);
  void copyStep(Value stage, const Slab &slab);
  void copyNext(const Tile &tile, Value block, Value endBlock, const Slab &slab, Value stage);
  Sums addStep(const Tile &tile, const Slab &slab, Value stage, const Sums &sums);
  Value mayHide(const Tile &tile, const Slab &slab);
  void store(const Tile &tile, const Sums &sums);
  bool hasWholeSteps() const;

  AttentionCode &code;
  const AttentionShape &attention;
  const MmaGradShape &shape;
  AttentionMemory &memory;
  AttentionTiles rows;
  KeyTiles tiles;
  ScoreFunction function;
  MmaGradFactors factors;
  MmaGradStaging staging;
  MmaCode mma;
  BlockChains chains;
  ThreadSums total; // a thread lacks registers for those of a block and of all blocks
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADKEYS_H
