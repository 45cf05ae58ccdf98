// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_ATTENTIONCHECKS_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_ATTENTIONCHECKS_H

#include "ConditionWriter.h"
#include "adjoint/Dialect/AD/IR/ADAttentionOps.h"

namespace mlir::ad {

/// Of operations that a kernel class keeps whole: the conditions that their decompositions write.
void requireSizesOfAttention(ConditionWriter &write, AttentionOp op);
void requireSizesOfAttention(ConditionWriter &write, AttentionGradOp op);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_ATTENTIONCHECKS_H
