// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks files before they are parsed. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_COMPILE_PROGRAMTEXT_H
#define ADJOINT_LIB_RUNNER_COMPILE_PROGRAMTEXT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::ad::runner {

/// An error unless the input may be a program in MLIR, text or bytecode. Refuses empty and compiled files,
/// and other binary files, whose bytes a diagnostic would otherwise show on the terminal.
llvm::Error checkProgramText(const llvm::MemoryBuffer &input);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_COMPILE_PROGRAMTEXT_H
