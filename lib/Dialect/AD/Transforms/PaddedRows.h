// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Padding that leaves rows along the last axis as they are. A kernel that reads a row at a time can make it:
// a row is one of the input, or zeros.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PADDEDROWS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PADDEDROWS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// Whether the operation writes zeros around its first operand, a tensor of f32 or f64 of static shape, but
/// not along the last axis, which has at most 16 KiB.
bool padsRows(Operation *op);

/// Whether the result is a part of the first operand that has whole rows, all of them next to each other.
bool isPartOfRows(Operation *op);

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PADDEDROWS_H
