// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels of ad.argsort along the last axis: calls of the sort of the runtime, with a row as unit of work.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_SORTKERNEL_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_SORTKERNEL_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::cpu {

/// Defines the function of the kernel, and that of its time if sizes are dynamic.
void emitSort(KernelOp kernel);

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_SORTKERNEL_H
