// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_INDEXBOUNDSCHECKS_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_INDEXBOUNDSCHECKS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad {

/// Writes an `ad.require` before the launch for each index of a `tensor.extract` of the kernel that may be
/// outside of its tensor. Ranges of loop indices and of arithmetic on them decide most indices. The host
/// knows constant indices and those of loops of dynamic size; others are computed by a kernel of their own,
/// which finds the first iteration that leaves the tensor. Fails after a diagnostic where none of these can.
LogicalResult requireIndicesOfLaunch(LaunchOp launch);

/// Checks only the reads `extracts` of one operation of a kernel. The kernel need not be in the module of the
/// launch.
LogicalResult requireIndices(LaunchOp launch, KernelOp kernel, linalg::GenericOp generic,
                             ArrayRef<tensor::ExtractOp> extracts);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_INDEXBOUNDSCHECKS_H
