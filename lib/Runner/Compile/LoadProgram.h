// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads the objects of a compiled program. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_COMPILE_LOADPROGRAM_H
#define ADJOINT_LIB_RUNNER_COMPILE_LOADPROGRAM_H

#include "adjoint/Runner/Executable/Executable.h"

namespace mlir::ad::runner {

/// Links the objects into this process, against the symbols of the runtime alone.
llvm::Expected<std::unique_ptr<Executable>> loadProgram(const CompiledProgram &program);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_COMPILE_LOADPROGRAM_H
