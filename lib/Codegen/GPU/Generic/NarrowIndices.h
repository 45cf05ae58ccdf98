// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Index arithmetic in 32 bits: one instruction where 64 bits need two to four, and divisions by constants are
// a product and a shift.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_NARROWINDICES_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_NARROWINDICES_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad::device {

/// Whether all indices of the kernel fit in 32 bits: its tensors are of static shape, short enough that no
/// loop of a grid leaves the range, and scalar code computes no indices.
bool hasNarrowIndices(KernelOp kernel);

/// Makes i32 of the values of type index in the function. Numbers may be below zero for a while, as they wrap
/// in 64 bits, so that they are extended with their sign where a pointer is moved. Leaves a function as it is
/// that has other operations on indices.
void narrowIndices(::mlir::gpu::GPUFuncOp function);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_NARROWINDICES_H
