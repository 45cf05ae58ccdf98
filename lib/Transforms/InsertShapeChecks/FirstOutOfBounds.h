// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_FIRSTOUTOFBOUNDS_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_FIRSTOUTOFBOUNDS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad {

/// The number of no iteration.
constexpr int64_t kNoIteration = std::numeric_limits<int64_t>::max();

/// Writes a kernel for the host program, before the launch, that finds the first iteration of the operation
/// in which one of these axes of `extract` is read outside of the tensor. Its result is the number of that
/// iteration as tensor<i64>, or kNoIteration. Null if an index depends on an accumulator.
FusionOp findFirstOutOfBounds(OpBuilder &host, LaunchOp launch, KernelOp kernel, linalg::GenericOp generic,
                              tensor::ExtractOp extract, ArrayRef<unsigned> axes);

/// Of the same arguments, and the result of that kernel: writes one that reads the indices along the axes in
/// that iteration, each as tensor<i64>.
FusionOp readIndicesOutOfBounds(OpBuilder &host, LaunchOp launch, KernelOp kernel, linalg::GenericOp generic,
                                tensor::ExtractOp extract, ArrayRef<unsigned> axes, Value first);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_FIRSTOUTOFBOUNDS_H
