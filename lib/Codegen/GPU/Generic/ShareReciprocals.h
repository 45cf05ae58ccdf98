// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Divisions of many elements by one value, such as those of a softmax by the sum of its row: the reciprocal
// is computed once, and each quotient has the bits of a division (decision 0055).

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_SHARERECIPROCALS_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_SHARERECIPROCALS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad::device {

/// Rewrites divisions of f32 by a value that enough others in the block or in its loop are divided by.
void shareReciprocals(::mlir::gpu::GPUFuncOp function);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_SHARERECIPROCALS_H
