// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operations with NamedKernelOpInterface stay whole.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELOPS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELOPS_H

#include "adjoint/Dialect/AD/Transforms/KernelClass.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"

namespace mlir::ad {

/// Replaces every named kernel inside `root` by its decomposition, and those that it is decomposed into,
/// unless `keeps` says that it stays. New operations get the permissions of the one that they replace.
/// Returns whether there was one. Fails after a diagnostic.
FailureOr<bool> decomposeNamedKernels(Operation *root, function_ref<bool(NamedKernelOpInterface)> keeps);

/// Whether a kernel class of the target covers a cluster of this operation alone.
bool hasKernelClass(NamedKernelOpInterface op, TargetKind target);

/// The named kernel among the operations of a fusion or kernel; null without one.
NamedKernelOpInterface namedKernelIn(Operation *fusionOrKernel);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELOPS_H
