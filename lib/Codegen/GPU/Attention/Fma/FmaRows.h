// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Maxima of rows of scores in shared memory, and their weights, which replace them, with the sums of weights
// in the canonical order of ad.reduce_sum over the last axis: lanes of chunks, and a tree over the chunks.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWS_H

#include "../PairwiseStack.h"
#include "FmaShape.h"

namespace mlir::ad::device {

class FmaRows {
public:
  FmaRows(AttentionCode &code, const AttentionShape &shape, const FmaShape &layout);

  /// Of the thread (i32): its row of the tile, which it shares with its neighbours, and its number there.
  Value row, inRow;

  /// The largest of some scores of the row and of `before`, which all threads of the row have.
  Value maximum(Value before, Value count);
  /// Replaces scores by weights, rounded as they multiply values, and adds them to the lanes.
  SmallVector<Value> addWeights(Value shift, Value count, ValueRange lanes);
  SmallVector<Value> zeroLanes() { return SmallVector<Value>(lanesOfThread(), code.real(0)); }
  /// The halving tree over the lanes of all threads of the row.
  Value joinLanes(ValueRange lanes);

private:
  int64_t lanesOfThread() const;
  Value placeOf(Value slab, int64_t lane);

  AttentionCode &code;
  const AttentionShape &shape;
  const FmaShape &layout;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWS_H
