// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows of a tile of ad.attention_grad in shared memory, and their products on tensor cores. While a step
// is computed, the next one is copied to the other of two stages.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADSTAGING_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADSTAGING_H

#include "../AttentionMemory.h"
#include "MmaCode.h"
#include "MmaGradShape.h"

namespace mlir::ad::device {

class MmaGradStaging {
public:
  MmaGradStaging(AttentionCode &code, const AttentionShape &attention, const MmaGradShape &shape,
                 AttentionMemory &memory);

  using Side = MmaGradShape::Side;
  /// The tensors of both sides, and of each row (i32) its number among all of their rows (i64). Rows that are
  /// not there are 0; null: all are.
  struct Source {
    const AttentionMemory::Tensor &ofDepth, &ofWidth;
    function_ref<Value(Value row)> number, isThere;
  };
  void copyOwn(const Source &source);
  /// To the stage of that number, 0 or 1 (i32).
  void copyStep(Value stage, const Source &source);
  /// The logarithms of sums and the deltas of queries.
  void copyStatistics(Value stage, function_ref<Value(Value row)> number);
  void commit();
  /// Until all copies have arrived, for all threads, and the other stage is free.
  void wait();

  /// The products of the own rows of the warp and those of the stage, along a side.
  SmallVector<Fragment> products(Side side, Value stage);
  /// Two registers for each fragment of factors of own rows and rows of the stage.
  using Registers = std::array<Value, 2>;
  /// Continues the sums of own rows by factors times rows of the stage.
  SmallVector<Fragment> add(Side side, Value stage, ArrayRef<Registers> factors, ArrayRef<Fragment> sums);
  /// Of the two rows of the stage that are the thread's columns of a fragment.
  struct Statistics {
    SmallVector<Value> logSums, deltas;
  };
  Statistics statistics(Value stage, int64_t fragment);

private:
  void copy(Side side, Value target, int64_t count, const Source &source);
  Value at(Value stage, int64_t byte);

  AttentionCode &code;
  const MmaGradShape &shape;
  AttentionMemory &memory;
  SwizzledRows rows;
  MmaCode mma;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADSTAGING_H
