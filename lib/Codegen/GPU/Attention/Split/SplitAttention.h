// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The three kernels of attention of few queries, and the function by which the host launches them.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITATTENTION_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITATTENTION_H

#include "SplitShape.h"
#include "adjoint/Codegen/Kernel/GPUKernelClass.h"

namespace mlir::ad::device {

void emitSplitAttention(GPUFunctions &functions, const AttentionShape &attention, const SplitShape &shape,
                        StringRef className);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITATTENTION_H
