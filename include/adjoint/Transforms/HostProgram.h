// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What may stand in a host program whose kernels are outlined.

#ifndef ADJOINT_TRANSFORMS_HOSTPROGRAM_H
#define ADJOINT_TRANSFORMS_HOSTPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {
/// Fails for the first operation that no later pass can compile, with a diagnostic that says what to write
/// instead. Behind it, control flow is structured: every region has one block.
LogicalResult verifyHostProgram(func::FuncOp function);
} // namespace mlir::ad

#endif // ADJOINT_TRANSFORMS_HOSTPROGRAM_H
