// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contiguous runs over several axes of a kernel that moves elements or computes them one by one.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_MERGERUNS_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_MERGERUNS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::device {

/// Makes one axis of adjacent axes that every access of the kernel has in this order or lacks, and that no
/// slice cuts but along the first of them: a concatenation of tensor<8x3x5xf32> and tensor<8x4x5xf32> along
/// axis 1 is one of tensor<8x15xf32> and tensor<8x20xf32>. Elements keep their places in memory. Leaves
/// kernels with reductions, dynamic sizes or computed indices as they are.
void mergeRuns(KernelOp kernel);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_MERGERUNS_H
