// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The one place where tools register dialects and interface models.

#ifndef ADJOINT_INITALLDIALECTS_H
#define ADJOINT_INITALLDIALECTS_H

#include "adjoint/Dialect/AD/Derivatives/Derivatives.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"

namespace mlir::ad {
/// Adjoint's dialects and the models that attach derivatives to operations.
inline void registerAdjointDialects(DialectRegistry &registry) {
  registry.insert<ADDialect>();
  registry.insert<check::CheckDialect>();
  registerDerivatives(registry);
}

/// Everything: Adjoint's dialects and all of upstream's, with their extensions.
inline void registerAllDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerAdjointDialects(registry);
}
} // namespace mlir::ad

#endif // ADJOINT_INITALLDIALECTS_H
