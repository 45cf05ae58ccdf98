// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rewrites of single operations before fusions form.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PREPAREFORFUSION_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PREPAREFORFUSION_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// Broadcasts large constants of one number by kernels, and marks broadcasts whose repeated axes are known,
/// below `root`.
void prepareForFusion(Operation *root);

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PREPAREFORFUSION_H
