// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The tensors of ad.attention or ad.attention_grad in memory, and their sizes.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONMEMORY_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONMEMORY_H

#include "AttentionCode.h"
#include "AttentionShape.h"

namespace mlir::ad::device {

class AttentionMemory {
public:
  /// The arguments of the function are those of the kernel.
  AttentionMemory(AttentionCode &code, KernelOp kernel);

  struct Tensor {
    Value pointer; ///< null if the kernel lacks it
    Type element;
    SmallVector<Value> sizes = {}; ///< i64
  };
  Tensor query, key, value, mask, logSum;
  Tensor result;                                          ///< of ad.attention
  Tensor delta, cotangent, queryGrad, keyGrad, valueGrad; ///< of ad.attention_grad
  Value batch, queries, keys;                             ///< i64

  /// The element of that number (i64), as it is or in the accumulator's type.
  Value load(const Tensor &tensor, Value number);
  Value loadWide(const Tensor &tensor, Value number);
  /// Rounds a number of the accumulator's type.
  void store(const Tensor &tensor, Value number, Value x);

private:
  Value sizeOf(ArrayRef<std::pair<Value, const Tensor *>> operands, int64_t axis);

  AttentionCode &code;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONMEMORY_H
