// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How much of a row has to be kept from one pass over it to the next.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWREGISTERS_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWREGISTERS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::device {

/// The most words of 32 bits that are waiting, per element of a row of that length, between two of the
/// kernel's passes: every sum is one, and the results are the last.
int64_t keptWordsPerElement(KernelOp kernel, int64_t length);

/// The arguments with rows of that length that more than one pass reads.
SmallVector<Value> argumentsReadAgain(KernelOp kernel, int64_t length);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWREGISTERS_H
