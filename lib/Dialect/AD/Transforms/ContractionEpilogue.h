// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What contractions do after their sum.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_CONTRACTIONEPILOGUE_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_CONTRACTIONEPILOGUE_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {
/// The result of the contraction from `sum`, which has the accumulator's type: scaled, with the bias, rounded
/// once.
Value emitEpilogue(OpBuilder &builder, DotOp op, Value sum);
Value emitEpilogue(OpBuilder &builder, GemmOp op, Value sum);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_CONTRACTIONEPILOGUE_H
