// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads the programs that a command line of ad-diff names. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PROGRAMOPTIONS_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PROGRAMOPTIONS_H

#include "../Options.h"
#include "adjoint/Runner/ProgramRun.h"

namespace mlir::ad::diff {

/// The options of ad-runner for the program `path`, from those of ad-diff. The target is `target`.
llvm::Expected<runner::Options> makeRunnerOptions(const DiffOptions &options, llvm::StringRef path,
                                                  runner::Target target);

/// Reads and compiles the program `path` for a target. Messages are printed as those of ad-diff. `observer`,
/// if there is one, sees all passes. The program has no inputs until it is bound.
llvm::Expected<std::unique_ptr<runner::ProgramRun>>
compileProgram(const DiffOptions &options, llvm::StringRef path, runner::Target target,
               runner::CompilationObserver *observer = nullptr);

/// Reads, compiles and binds the program `path` for a target. Messages are printed as those of ad-diff.
/// `observer`, if there is one, sees all passes.
llvm::Expected<std::unique_ptr<runner::ProgramRun>>
loadProgram(const DiffOptions &options, llvm::StringRef path, runner::Target target,
            runner::CompilationObserver *observer = nullptr);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PROGRAMOPTIONS_H
