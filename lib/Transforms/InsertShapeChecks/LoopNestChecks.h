// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_LOOPNESTCHECKS_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_LOOPNESTCHECKS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// Writes the conditions of a loop nest or an ordered write before it: sizes that agree with those of the
/// loops, axes with elements where an index outside means the nearest element or a value, and indices inside
/// where it means an error. Does nothing for other operations. Fails after a diagnostic where a condition
/// cannot be tested before.
LogicalResult requireAccesses(Operation *op);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_LOOPNESTCHECKS_H
