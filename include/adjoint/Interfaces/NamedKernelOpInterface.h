// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of NamedKernelOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE_H
#define ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "adjoint/Interfaces/NamedKernelOpInterface.h.inc"

namespace mlir::ad {

/// The decomposition, whose types have been compared with those of the results. Fails after a diagnostic.
FailureOr<SmallVector<Value>> decomposeNamedKernel(NamedKernelOpInterface op, OpBuilder &builder);

} // namespace mlir::ad

#endif // ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE_H
