// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementary functions of neighbouring elements as one operation on a vector: most have a branch for rare
// arguments, after which nothing of one element overlaps with the next. A vector has one branch.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_GROUPFUNCTIONS_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_GROUPFUNCTIONS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad::device {

/// Makes vectors of the f32 functions of each block of code that do not depend on each other. What later ones
/// read is computed, or loaded where nothing is stored between, before the first one. The bits stay:
/// functions are elementwise on vectors.
void groupFunctions(::mlir::gpu::GPUFuncOp function);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_GROUPFUNCTIONS_H
