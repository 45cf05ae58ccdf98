// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rewrites linalg that any compiler may have written into the form that the emitters require.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_NORMALIZEKERNEL_H
#define ADJOINT_LIB_CODEGEN_KERNEL_NORMALIZEKERNEL_H

#include "adjoint/Dialect/AD/IR/ADOps.h"

namespace mlir::ad {

/// Verifies the body of the kernel, and rewrites it so that
/// - reductions whose partial results may be joined start from the neutral element, and outs that are another
///   value are joined to the total by an operation of their own, once and last;
/// - no parallel operation reads its outs: they are inputs;
/// - scalar code is defined for all operands (TotalScalars.h), in masked lanes too.
/// Fails after a diagnostic when the verifier refuses the body.
LogicalResult normalizeKernel(KernelOp kernel);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CODEGEN_KERNEL_NORMALIZEKERNEL_H
