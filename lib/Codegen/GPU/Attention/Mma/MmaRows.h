// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scores of a warp's rows in accumulators of `mma.sync`: a thread has two rows, and of every eight keys two.
// So it has all elements of a lane of the canonical order of ad.reduce_sum, whose halving tree ends with the
// four threads of a row.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAROWS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAROWS_H

#include "MmaCode.h"

namespace mlir::ad::device {

/// Of the thread's two rows.
using RowPair = std::array<Value, 2>;

class MmaRows {
public:
  explicit MmaRows(AttentionCode &code) : code(code) {}

  RowPair maximum(const RowPair &before, ArrayRef<Fragment> scores);
  /// The weights exp(score - shift) of a chunk with that many keys (i32): rounded, as registers of an operand
  /// that `pack` makes, and their sums. All registers have the type of `zero`.
  using Registers = std::array<Value, 2>;
  using Pack = function_ref<Registers(const Fragment &weights)>;
  struct Weights {
    RowPair sums;
    SmallVector<Registers> rounded; // of each fragment
  };
  Weights weigh(ArrayRef<Fragment> scores, const RowPair &shift, Value count, Value zero, Pack pack);

private:
  /// The arguments of `weigh`, and its result.
  struct Chunk {
    ArrayRef<Fragment> scores;
    const RowPair &shift;
    Value count, zero;
    Pack pack;
    SmallVector<Registers> rounded;
  };
  Fragment sumLanes(Chunk &chunk, size_t first, size_t step);
  Fragment sumChains(Chunk &chunk, size_t first);
  SmallVector<Value> weighChains(Chunk &chunk, size_t first);
  Fragment plus(const Fragment &x, const Fragment &y);

  AttentionCode &code;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAROWS_H
