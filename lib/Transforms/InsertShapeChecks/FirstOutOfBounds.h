// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_FIRSTOUTOFBOUNDS_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_FIRSTOUTOFBOUNDS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad {

/// The number of no iteration.
constexpr int64_t kNoIteration = std::numeric_limits<int64_t>::max();

/// Writes, before the launch, a kernel that finds the first iteration of the operation in which one of these
/// axes of `extract` is read outside of the tensor. The first result is the number of that iteration as
/// tensor<i64>, or kNoIteration; then come the indices along the axes in that iteration. Null if an index
/// depends on an accumulator.
FusionOp findFirstOutOfBounds(LaunchOp launch, KernelOp kernel, linalg::GenericOp generic,
                              tensor::ExtractOp extract, ArrayRef<unsigned> axes);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_FIRSTOUTOFBOUNDS_H
