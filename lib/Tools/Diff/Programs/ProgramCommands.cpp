// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chooses the subcommand.
#include "ProgramCommands.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Tools/Diff.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;

static llvm::Expected<DiffReport> runProgramCommand(const DiffOptions &options) {
  switch (options.command) {
  case Command::Align:
    return runAlignPrograms(options);
  case Command::Stages:
    return runStages(options);
  case Command::Nan:
    return runNan(options);
  case Command::Bisect:
    return runBisect(options);
  case Command::Reduce:
    return runReduce(options);
  case Command::Shadow:
    return runShadow(options);
  case Command::Precision:
    return runPrecision(options);
  default:
    return exitError(ExitProgramError, "internal error: the subcommand runs no programs");
  }
}

int mlir::ad::diff::diffProgramsMain(int argc, char **argv) {
  return runDiffTool(argc, argv, runProgramCommand);
}
