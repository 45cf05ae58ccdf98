// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifies the input of the lowering: a buffer for every tensor, and code for every kernel.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_VERIFYPLANNEDPROGRAM_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_VERIFYPLANNEDPROGRAM_H

#include "EntryBuilder.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad::host {

/// Whether HostEmitter can lower the function.
LogicalResult verifyPlannedProgram(func::FuncOp function, const HostOptions &options);
/// Whether the kernel of a launch has code for the target, and all that a launch of it needs.
LogicalResult verifyLaunch(LaunchOp launch, const HostOptions &options);

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_VERIFYPLANNEDPROGRAM_H
