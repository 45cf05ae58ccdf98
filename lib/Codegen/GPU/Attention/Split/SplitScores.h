// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The first launch of attention of few queries: scores of slabs of keys, and the largest ones. Each thread
// has a key and all rows of a tile.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSCORES_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSCORES_H

#include "../PairwiseStack.h"
#include "../ScoreFunction.h"
#include "SplitKernel.h"
#include "SplitStaging.h"
#include "SplitTensorCores.h"

namespace mlir::ad::device {

class SplitScores : SplitKernel {
public:
  SplitScores(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
              const SplitShape &shape);
  void emit();
  static Value unitCount(AttentionCode &code, AttentionTiles &tiles, SplitCounts &counts);

private:
  void emitSlab(const Tile &tile, const Part &slab, Value number);
  void stageQueries(const Tile &tile, Value depth);
  void stageKeys(const Tile &tile, const Part &slab, Value depth);
  int64_t sumCount() const;
  /// Adds the products of staged elements, of which there are `count` (i32).
  SmallVector<Value> addSlice(Value count, ValueRange sums);
  SmallVector<Value> addSliceOnTensorCores(Value count, ValueRange sums);
  SmallVector<Value> chain(const Tile &tile, const Part &slab, int64_t lower, int64_t upper);
  SmallVector<Value> products(const Tile &tile, const Part &slab);
  SmallVector<Value> ofKey(ValueRange fragments);
  void storeMaxima(const Tile &tile, ArrayRef<Value> scores, Value number);

  SplitStaging staging;
  ScoreFunction function;
  SplitTensorCores tensorCores;
  std::optional<PairwiseStack> depthBlocks; // where the depth has several
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSCORES_H
