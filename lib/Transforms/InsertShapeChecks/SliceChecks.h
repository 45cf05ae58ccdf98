// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_SLICECHECKS_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_SLICECHECKS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// Writes an `ad.require` before the launch for each slice and each cast of the kernel: slices are inside of
/// their tensors, what is inserted has the size of its slice, and tensors have the sizes that casts claim.
/// Fails after a diagnostic where a size or an offset is not known before the kernel runs.
LogicalResult requireSlicesOfLaunch(LaunchOp launch);

/// Fails after a diagnostic for linalg of a fusion that would need a condition: a fusion of the program
/// itself has none.
LogicalResult refuseOpenFusion(FusionOp fusion);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_SLICECHECKS_H
