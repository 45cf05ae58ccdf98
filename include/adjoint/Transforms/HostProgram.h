// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that a host program may have once its kernels are outlined.

#ifndef ADJOINT_TRANSFORMS_HOSTPROGRAM_H
#define ADJOINT_TRANSFORMS_HOSTPROGRAM_H

#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {
/// Reports each operation that no later pass can compile, with a diagnostic that says what to write instead,
/// or how the program reaches `stage`, which the caller needs. After success, control flow is structured:
/// every region has one block.
LogicalResult verifyHostProgram(func::FuncOp function, Stage stage);
/// A value of the host program has a type that the runtime knows: a tensor, or a scalar, whose integers may
/// have any width of up to 64 bits.
LogicalResult verifyHostType(Location loc, Type type);

} // namespace mlir::ad

#endif // ADJOINT_TRANSFORMS_HOSTPROGRAM_H
