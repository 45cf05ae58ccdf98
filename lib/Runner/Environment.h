// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// --version and --env. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_ENVIRONMENT_H
#define ADJOINT_LIB_RUNNER_ENVIRONMENT_H

#include "adjoint/Runner/Options/Options.h"

namespace mlir::ad::runner {

void printVersion(llvm::raw_ostream &os);
/// Prints the facts about this machine and build that a bug report needs.
void printEnvironment(llvm::raw_ostream &os, const Options &options);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_ENVIRONMENT_H
