// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pipelines as text, for embedders.
#ifndef ADJOINT_LIB_BUILDER_PARSEPASSES_H
#define ADJOINT_LIB_BUILDER_PARSEPASSES_H

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::ad {

/// Registers the passes and pipelines of Adjoint, and upstream's transformations, once in the process.
void registerPassesOnce();

/// Appends the passes of a text as for `ad-opt --pass-pipeline`, inside of `builtin.module(...)`; they must
/// be registered. An error in one line if there are no such passes.
llvm::Error parsePasses(const std::string &pipeline, PassManager &passes);

} // namespace mlir::ad

#endif // ADJOINT_LIB_BUILDER_PARSEPASSES_H
