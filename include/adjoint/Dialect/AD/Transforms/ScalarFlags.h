// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Flags by which operations of arith and math permit rewrites, or promise something of their operands.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_SCALARFLAGS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_SCALARFLAGS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// Removes fast-math and overflow flags and `exact`: only the attributes of the kernel or the program permit
/// rewrites of numbers, and an operation has one result for all operands.
void dropScalarFlags(Operation *op);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_SCALARFLAGS_H
