// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels over rows: every sum goes over lanes along the last axis of one element or of one row of results.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWMATCH_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWMATCH_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::device {

struct Rows {
  unsigned space;     // number of the result whose leading axes count rows
  bool ofElements;    // each element of the results has a row of its own, which is summed
  bool sumsAlong;     // beside values of rows there are elements, and these are summed too
  int64_t length = 0; // of what is summed
};

/// Or nothing, and the reason.
std::optional<Rows> matchRows(KernelOp kernel, std::string &reason);

/// Whether a block of threads takes a row: one that has several chunks, or where there are few.
bool takesBlocks(KernelOp kernel, const Rows &rows);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWMATCH_H
