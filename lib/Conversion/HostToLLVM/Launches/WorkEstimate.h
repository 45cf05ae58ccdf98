// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Upper bounds of the work of operations, for the distance between polls. A unit of work is a step of a
// kernel's innermost code over one element.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_WORKESTIMATE_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_WORKESTIMATE_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ad::host {

/// Some microseconds of one core; a poll takes some nanoseconds. Estimates saturate at this number.
constexpr int64_t kWorkBetweenPolls = 1 << 21;

int64_t workOf(LaunchOp launch);
int64_t workOf(Operation &op);
int64_t workOf(Block &block);
/// A product that saturates.
int64_t saturatedWork(uint64_t iterations, int64_t work);

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_WORKESTIMATE_H
