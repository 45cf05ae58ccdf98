// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The dialects, pipelines and interpreters of this build of Adjoint, as hooks of the runner. This header does
// not include MLIR, for code that only passes the hooks on.
#ifndef ADJOINT_RUNNER_STANDARDHOOKS_H
#define ADJOINT_RUNNER_STANDARDHOOKS_H

namespace mlir::ad::runner {

struct Hooks;

/// Hooks with all features of this build.
const Hooks &standardHooks();

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_STANDARDHOOKS_H
