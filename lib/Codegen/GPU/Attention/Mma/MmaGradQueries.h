// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The cotangents of queries on tensor cores: a warp has 16 rows, and the chunks of keys pass by in ascending
// order.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADQUERIES_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADQUERIES_H

#include "../BlockChains.h"
#include "../ChunkRange.h"
#include "MmaGradFactors.h"
#include "MmaGradStaging.h"

namespace mlir::ad::device {

class MmaGradQueries {
public:
  MmaGradQueries(AttentionCode &code, const AttentionShape &attention, const MmaGradShape &shape,
                 AttentionMemory &memory);
  void emit();

private:
  using Tile = AttentionTiles::Tile;
  /// Of the thread's two rows.
  struct Rows {
    std::array<Value, 2> logSums, deltas;
  };
  /// Keys that pass by at once: from one on to the end of the chunk (i64).
  struct Keys {
    Value first, end;
  };
  void emitTile(const Tile &tile);
  Rows loadRows(const Tile &tile);
  void copyStep(const Tile &tile, Value stage, const Keys &keys);
  void copyNext(const Tile &tile, ChunkRange &chunks, Value chunk, const Keys &keys, Value stage);
  SmallVector<Fragment> addStep(const Tile &tile, const Rows &rows, const Keys &keys, Value stage,
                                ArrayRef<Fragment> sums);
  void store(const Tile &tile, ArrayRef<Fragment> sums);
  bool hasWholeSteps() const;

  AttentionCode &code;
  const AttentionShape &attention;
  const MmaGradShape &shape;
  AttentionMemory &memory;
  AttentionTiles tiles;
  ScoreFunction function;
  MmaGradFactors factors;
  MmaGradStaging staging;
  MmaCode mma;
  BlockChains chains;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADQUERIES_H
