// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What ad-runner and adrt-run share: options, signals, the report, exit codes. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_TOOL_H
#define ADJOINT_LIB_RUNNER_TOOL_H

#include "Options/Console.h"
#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Runner/Options/Options.h"

#include <functional>

namespace mlir::ad::runner {

/// The inputs and outputs of one run of a tool.
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
  void (*printKernels)(llvm::raw_ostream &os) = nullptr; ///< null: the tool has no such option
};

/// Runs a file that was compiled ahead of time. An implementation of Tool::run.
int runAdx(const ToolRun &run);

/// The whole of `main`. No input of a user makes it call exit() or abort().
int runTool(int argc, char **argv, const Tool &tool);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_TOOL_H
