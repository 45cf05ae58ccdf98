// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which kernels have class row: every sum goes over the lanes of the order, along the last axis of its
// operands, for one element or one row of the results.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWMATCH_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWMATCH_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::device {

struct Rows {
  unsigned space;     // number of the result whose leading axes enumerate the rows
  bool ofElements;    // each element of the results is the sum of a row of its own
  bool sumsAlong;     // there are values of rows and elements of rows, and the elements are sums, too
  int64_t length = 0; // of a sum
};

/// Nothing, and the reason, for other kernels.
std::optional<Rows> matchRows(KernelOp kernel, std::string &reason);

/// Whether a thread block computes each row, since a row has several chunks or there are few rows.
bool usesBlockPerRow(KernelOp kernel, const Rows &rows);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWMATCH_H
