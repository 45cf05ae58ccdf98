// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-runner.
#include "adjoint/Runner/Runner.h"
#include "Environment.h"
#include "Session/Replay.h"
#include "Session/Session.h"
#include "Tool.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/AD/Transforms/NamedKernels.h"
#include "adjoint/Support/FloatingPointState.h"

using namespace mlir::ad::runner;

static void printKernels(llvm::raw_ostream &os) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::ad::ADDialect>();
  mlir::ad::printNamedKernels(&context, os);
}

static int replay(const ToolRun &run, const Hooks &hooks) {
  Options options = run.options;
  if (llvm::Error error = readReplay(options))
    return run.console.fail(std::move(error));
  run.report.file = options.input;
  run.report.entry = options.entry;
  run.report.target = targetName(options.target).str();
  return Session(options, hooks, run.report, run.console, run.interrupted, run.start).run();
}

int mlir::ad::runner::runnerMain(int argc, char **argv, const Hooks &hooks) {
  adrt::FloatingPointScope floatingPoint;
  auto run = [&hooks](const ToolRun &run) {
    if (isCompiled(run.options))
      return runAdx(run);
    if (!run.options.replayFolder.empty())
      return replay(run, hooks);
    return Session(run.options, hooks, run.report, run.console, run.interrupted, run.start).run();
  };
  return runTool(argc, argv, {OptionSet::Compiler, run, printVersion, printEnvironment, printKernels});
}
