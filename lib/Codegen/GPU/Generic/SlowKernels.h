// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels for which the generic class is no fallback but a fault of the choice before.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_SLOWKERNELS_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_SLOWKERNELS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::device {

/// Why the kernel takes many times as long in the generic class as the program needs; empty if it does not. A
/// thread of that class reads all operands of a product again for each element, and a warp a whole row.
std::string whySlowInGenericClass(KernelOp kernel);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_SLOWKERNELS_H
