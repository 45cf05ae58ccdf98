// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds operations that cannot be differentiated, before any code is generated.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_CHECK_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_CHECK_H

#include "Activity.h"

namespace mlir::ad {
/// Reports every active operation of `body` that has no derivative, each at its location with a note on
/// `request`.
LogicalResult checkDifferentiable(Block &body, const Activity &activity, Operation *request);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_CHECK_H
