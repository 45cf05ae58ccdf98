// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The dialects, pipelines and back ends that this build of Adjoint has, as the runner wants them. Without
// MLIR in it, for whoever only hands them on.
#ifndef ADJOINT_RUNNER_STANDARDHOOKS_H
#define ADJOINT_RUNNER_STANDARDHOOKS_H

namespace mlir::ad::runner {

struct Hooks;

/// Everything that there is.
const Hooks &standardHooks();

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_STANDARDHOOKS_H
