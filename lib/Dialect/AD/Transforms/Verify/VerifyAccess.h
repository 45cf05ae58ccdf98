// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYACCESS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYACCESS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad {

/// Fails after a diagnostic when the operation may read or write outside of an operand, or write an element
/// twice.
LogicalResult verifyAccess(linalg::GenericOp op);

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYACCESS_H
