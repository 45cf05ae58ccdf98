// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementary functions of neighbouring elements as one operation on a vector: most have a branch for rare
// arguments, after which nothing of one element overlaps with the next. A vector has one branch.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_GROUPFUNCTIONS_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_GROUPFUNCTIONS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad::device {

/// Replaces calls of one f32 function in a block of code that do not depend on each other by one call on a
/// vector, at the place of the first. Operands of the later calls move before it; a load moves only if
/// nothing is stored between. The bits stay: functions are elementwise on vectors.
void groupFunctions(::mlir::gpu::GPUFuncOp function);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_GROUPFUNCTIONS_H
