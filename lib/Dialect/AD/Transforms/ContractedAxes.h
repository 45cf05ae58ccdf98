// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contracted axes that count as one.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_CONTRACTEDAXES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_CONTRACTEDAXES_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {
/// Whether the ad.dot contracts one axis, or several that ad-decompose merges to one.
bool contractsOneAxis(DotOp op);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_CONTRACTEDAXES_H
