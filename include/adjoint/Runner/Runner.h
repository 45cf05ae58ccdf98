// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// `ad-runner` as a function. The hooks say which dialects and pipelines it has.
#ifndef ADJOINT_RUNNER_RUNNER_H
#define ADJOINT_RUNNER_RUNNER_H

#include "adjoint/Runner/Compile/Hooks.h"

namespace mlir::ad::runner {

/// The whole of `main` of ad-runner. No input of a user makes it call exit() or abort().
int runnerMain(int argc, char **argv, const Hooks &hooks);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_RUNNER_H
