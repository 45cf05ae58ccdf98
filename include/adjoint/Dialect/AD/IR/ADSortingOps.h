// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operations that order elements, and how elements move to and from positions along an axis.

#ifndef ADJOINT_DIALECT_AD_IR_ADSORTINGOPS_H
#define ADJOINT_DIALECT_AD_IR_ADSORTINGOPS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"

namespace mlir::ad {
/// The elements of `input` at positions along the axis. The other axes run together, and no position is
/// outside.
Value gatherAlong(OpBuilder &builder, Location loc, Value input, Value positions, int64_t axis);

/// `tensor` with the elements of `update` at positions along the axis, and with them added there.
Value setAlong(OpBuilder &builder, Location loc, Value tensor, Value positions, Value update, int64_t axis);
Value addAlong(OpBuilder &builder, Location loc, Value tensor, Value positions, Value update, int64_t axis);
} // namespace mlir::ad

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADSortingOps.h.inc"

#endif // ADJOINT_DIALECT_AD_IR_ADSORTINGOPS_H
