// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of the `ad` operations and of the upstream operations that programs use, as external
// models of DifferentiableOpInterface. An outside dialect attaches models of its own in the same way.

#ifndef ADJOINT_DIALECT_AD_DERIVATIVES_DERIVATIVES_H
#define ADJOINT_DIALECT_AD_DERIVATIVES_DERIVATIVES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class DialectRegistry;
class MLIRContext;

namespace ad {
/// Attaches every rule when its dialect is loaded.
void registerDerivatives(DialectRegistry &registry);

/// Names of the registered operations of loaded dialects that have a rule, sorted. Tests hold them against
/// their cases.
SmallVector<StringRef> operationsWithDerivatives(MLIRContext &context);
} // namespace ad
} // namespace mlir

#endif // ADJOINT_DIALECT_AD_DERIVATIVES_DERIVATIVES_H
