// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Liveness of the values of a row between the passes of a kernel over it.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWLIVENESS_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWLIVENESS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::device {

/// The maximum number of 32-bit words per element of a row of that length that are live between two passes of
/// the kernel. Each sum is a pass, and the stores of the results are the last one.
int64_t liveWordsPerElement(KernelOp kernel, int64_t length);

/// The arguments with rows of that length that more than one pass reads.
SmallVector<Value> argumentsReadAgain(KernelOp kernel, int64_t length);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWLIVENESS_H
