// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The text of a program after a stage of the compiler. Like ProgramBuilder.h, this header includes neither
// LLVM nor MLIR.
#ifndef ADJOINT_BUILDER_LOWERPROGRAM_H
#define ADJOINT_BUILDER_LOWERPROGRAM_H

#include "adjoint/Runner/Program.h"

namespace mlir::ad {

/// Runs the passes of `pipeline`, which is written as for `ad-opt --pass-pipeline` inside of
/// `builtin.module(...)` and names passes and pipelines of Adjoint. `text` is the program after them. False,
/// with the reason in `failure`, if there is no such pipeline, or the program does not parse or is refused.
bool lowerProgram(std::string_view source, std::string_view name, const std::string &pipeline,
                  std::string &text, runner::Failure &failure);

} // namespace mlir::ad

#endif // ADJOINT_BUILDER_LOWERPROGRAM_H
