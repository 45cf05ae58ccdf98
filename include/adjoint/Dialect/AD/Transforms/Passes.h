// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declarations of the passes from `ad` to `ad`, and the parts of them that other libraries call directly.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_PASSES_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_PASSES_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ad {
#define GEN_PASS_DECL
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"

/// The contract written as `MODE[,PERMISSION...]`; on failure `error` says what was expected and what was
/// found.
FailureOr<NumericsAttr> parseNumerics(MLIRContext *context, StringRef text, std::string &error);

/// Checks that `entry` exists, has a body, takes and returns ranked tensors, and has either results or an
/// ad.receive that it reaches; emits the diagnostic.
LogicalResult verifyEntry(ModuleOp module, StringRef entry);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_PASSES_H
