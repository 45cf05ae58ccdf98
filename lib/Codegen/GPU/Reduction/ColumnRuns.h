// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions along an axis before a few columns (decision 0060). The columns of one position are a bundle:
// the elements that a bundle reduces are a contiguous run of memory, in which its chains alternate.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_COLUMNRUNS_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_COLUMNRUNS_H

#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::device {

/// A kernel whose reductions all go along such an axis.
struct ColumnRuns {
  SmallVector<linalg::GenericOp> reductions;
  int64_t columns;
  int64_t leaves = 1;  // of the order, of a bundle: a warp computes so many at the same time
  int64_t bundles = 1; // of a warp

  /// Of a warp: runs, each of which is a leaf of a bundle, and chains, each of which has a thread.
  int64_t runsOfWarp() const { return bundles * leaves; }
  int64_t chainsOfWarp() const { return runsOfWarp() * columns; }
};
std::optional<ColumnRuns> matchColumnRuns(KernelOp kernel); ///< of the first kernel of a divided reduction

/// The same, with as many leaves as one kernel needs to fill the machine.
std::optional<ColumnRuns> matchUndividedRuns(KernelOp kernel);
/// Whether the warps of one kernel compute all leaves at the same time.
bool hasAllLeaves(KernelOp kernel, const ColumnRuns &runs);

/// An argument of the kernel that a reduction reads in runs.
struct RunOperand {
  BlockArgument argument;
  AffineMap map; // its axes as loops of the reduction
  unsigned axis; // the reduced one

  ArrayRef<int64_t> shape() const { return cast<RankedTensorType>(argument.getType()).getShape(); }
};
SmallVector<RunOperand> runOperands(linalg::GenericOp reduction);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_COLUMNRUNS_H
