// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// `adrt-run` as a function.
#ifndef ADJOINT_RUNNER_RUNADX_H
#define ADJOINT_RUNNER_RUNADX_H

namespace mlir::ad::runner {

/// The whole of `main` of adrt-run.
int adrtRunMain(int argc, char **argv);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_RUNADX_H
