// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A fusion that asks a question and is thrown away.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_TRIALFUSION_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_TRIALFUSION_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// An `ad.fusion` in no block with copies of the operations, which are of one block, in their order there.
/// What comes from outside is an operand, and every result that an operation outside uses is one of the
/// fusion. It uses the values of the program while it exists.
OwningOpRef<FusionOp> makeTrialFusion(ArrayRef<Operation *> members);

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_TRIALFUSION_H
