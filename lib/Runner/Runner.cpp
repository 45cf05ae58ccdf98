// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-runner.
#include "adjoint/Runner/Runner.h"
#include "Environment.h"
#include "Session/Session.h"
#include "Tool.h"

using namespace mlir::ad::runner;

int mlir::ad::runner::runnerMain(int argc, char **argv, const Hooks &hooks) {
  auto run = [&hooks](const ToolRun &run) {
    if (isCompiled(run.options))
      return runAdx(run);
    return Session(run.options, hooks, run.report, run.console, run.interrupted, run.start).run();
  };
  return runTool(argc, argv, {OptionSet::Compiler, run, printVersion, printEnvironment});
}
