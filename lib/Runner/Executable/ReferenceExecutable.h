// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The reference interpreter as an executable of the runner.
#ifndef ADJOINT_LIB_RUNNER_EXECUTABLE_REFERENCEEXECUTABLE_H
#define ADJOINT_LIB_RUNNER_EXECUTABLE_REFERENCEEXECUTABLE_H

#include "adjoint/Runner/Executable/Executable.h"

namespace mlir::ad::runner {

/// Interprets function `entry` of `module`, which must outlive the executable.
std::unique_ptr<Executable> makeReference(mlir::ModuleOp module, llvm::StringRef entry);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_EXECUTABLE_REFERENCEEXECUTABLE_H
