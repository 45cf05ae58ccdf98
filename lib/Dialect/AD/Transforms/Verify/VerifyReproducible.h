// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The promise of reproducible, for the passes that write and check contracts.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYREPRODUCIBLE_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYREPRODUCIBLE_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// Reports each permission below `root` inside a reproducible module or function, and each call
/// from there to a function with another contract.
LogicalResult verifyReproducible(Operation *root);

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYREPRODUCIBLE_H
