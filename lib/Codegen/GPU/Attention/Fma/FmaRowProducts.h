// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of rows of two tensors by FMA, contracted along the rows, in the canonical order of ad.dot: those
// of queries and keys, and of cotangents and values.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWPRODUCTS_H

#include "../AttentionMemory.h"
#include "../PairwiseStack.h"
#include "FmaGrid.h"

namespace mlir::ad::device {

class FmaRowProducts {
public:
  /// Slices of the rows, which have `length` elements, are staged at those bytes of shared memory.
  FmaRowProducts(AttentionCode &code, const FmaGrid &grid, AttentionMemory &memory, int64_t length,
                 int64_t stagedRows, int64_t stagedKeys);

  /// A tensor, and of each row of the tile, or key of the slab (i32), its number among all rows of the tensor
  /// (i64).
  struct Side {
    const AttentionMemory::Tensor &tensor;
    function_ref<Value(Value)> number;
  };
  /// Of each row of the thread its keys.
  SmallVector<Value> multiply(const Side &rows, const Side &keys);

private:
  void stage(int64_t byte, const Side &side, int64_t count, Value first, double padding);
  SmallVector<Value> chain(const Side &rows, const Side &keys, int64_t lower, int64_t upper);
  SmallVector<Value> addSlice(ValueRange sums);

  AttentionCode &code;
  const FmaGrid &grid;
  AttentionMemory &memory;
  const int64_t length, stagedRows, stagedKeys;
  std::optional<PairwiseStack> blocks; // where a row has several
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAROWPRODUCTS_H
