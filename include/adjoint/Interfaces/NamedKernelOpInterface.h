// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of NamedKernelOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE_H
#define ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "adjoint/Interfaces/NamedKernelOpInterface.h.inc"

namespace mlir::ad {

/// Named kernels may consist of others, to this depth and in all of so many: a decomposition into itself
/// would never end.
constexpr int64_t kMaxNamedKernelDepth = 100, kMaxNamedKernels = 100000;
constexpr llvm::StringLiteral kNamedKernelDepthError =
    "is decomposed into itself, or into more named kernels than 100 in each other or 100000 in all";

/// The decomposition, whose types have been compared with those of the results. Fails after a diagnostic.
FailureOr<SmallVector<Value>> decomposeNamedKernel(NamedKernelOpInterface op, OpBuilder &builder);

} // namespace mlir::ad

#endif // ADJOINT_INTERFACES_NAMEDKERNELOPINTERFACE_H
