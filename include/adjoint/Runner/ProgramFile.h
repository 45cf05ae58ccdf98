// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs as compiled files. Like Program.h, this header includes neither LLVM nor MLIR, and the function
// prints nothing.
#ifndef ADJOINT_RUNNER_PROGRAMFILE_H
#define ADJOINT_RUNNER_PROGRAMFILE_H

#include "adjoint/Runner/Program.h"

namespace mlir::ad::runner {

/// Compiles a program for the target and the CPU of the options, and writes the file of docs/adx.md, which
/// adrt-run and Program::load run. An existing file is replaced by a whole one, or stays as it is. `bound`
/// has values of arguments, of their types and sizes, which are stored in the file; a run may give others.
/// False, with the reason in `failure`, if the program does not compile, a value fits no argument, or the
/// file cannot be written.
bool writeProgram(std::string_view source, std::string_view name, const ProgramOptions &options,
                  const std::vector<BoundArgument> &bound, const std::string &path, const Hooks &hooks,
                  const std::function<bool()> &interrupted, Failure &failure);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_PROGRAMFILE_H
