// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums in memory of the thread, which are seldom added to.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_THREADSUMS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_THREADSUMS_H

#include "AttentionCode.h"

namespace mlir::ad::device {

/// All threads of a warp use them together.
class ThreadSums {
public:
  ThreadSums(AttentionCode &code, int64_t count);

  void clear();
  void add(ValueRange more);
  SmallVector<Value> load();

private:
  Value start();

  AttentionCode &code;
  int64_t count;
  Value memory;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_THREADSUMS_H
