// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The frame of programs that run programs: options, signals, the report, and a clean way out. Internal to the
// runner.
#ifndef ADJOINT_LIB_RUNNER_TOOL_H
#define ADJOINT_LIB_RUNNER_TOOL_H

#include "Options/Console.h"
#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Runner/Options/Options.h"

#include <functional>

namespace mlir::ad::runner {

/// What a tool is asked to do, and what it works with.
struct ToolRun {
  const Options &options;
  Report &report;
  Console &console;
  std::function<bool()> interrupted; ///< Ctrl-C was pressed
  Clock::time_point start;           ///< of the process
};

struct Tool {
  OptionSet optionSet;
  /// Returns the exit code; every failure has been printed.
  std::function<int(const ToolRun &run)> run;
  void (*printVersion)(llvm::raw_ostream &os);
  void (*printEnvironment)(llvm::raw_ostream &os, const Options &options);
};

/// Runs a file that was compiled ahead of time; as Tool::run.
int runAdx(const ToolRun &run);

/// The whole of `main`; never leaves by exit() or abort() because of what a user wrote.
int runTool(int argc, char **argv, const Tool &tool);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_TOOL_H
