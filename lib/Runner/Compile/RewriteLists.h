// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// --list-rewrites, --rewrites-only and --rewrites-except for the passes of one context. Internal to the
// runner.
#ifndef ADJOINT_LIB_RUNNER_COMPILE_REWRITELISTS_H
#define ADJOINT_LIB_RUNNER_COMPILE_REWRITELISTS_H

#include "adjoint/Runner/Options/Options.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace mlir::ad::runner {

/// Applies the options to all passes that run in the context from now on. A usage error for a file that is no
/// list of rewrites.
llvm::Error controlRewrites(mlir::MLIRContext *context, const Options &options);
/// The rewrites that were applied since then, one per line; empty without such an option.
std::string listRewrites(mlir::MLIRContext *context, const Options &options);
/// Finds out which pass applies each of them.
std::unique_ptr<mlir::PassInstrumentation> observeRewrites();

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_COMPILE_REWRITELISTS_H
