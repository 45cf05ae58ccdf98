// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-runner.
#include "adjoint/Runner/Runner.h"
#include "Environment.h"
#include "Session/Session.h"
#include "Tool.h"
#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/AD/Transforms/NamedKernels.h"

using namespace mlir::ad::runner;

static void printKernels(llvm::raw_ostream &os) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::ad::ADDialect>();
  mlir::ad::printNamedKernels(&context, os);
}

int mlir::ad::runner::runnerMain(int argc, char **argv, const Hooks &hooks) {
  auto run = [&hooks](const ToolRun &run) {
    if (isCompiled(run.options))
      return runAdx(run);
    return Session(run.options, hooks, run.report, run.console, run.interrupted, run.start).run();
  };
  return runTool(argc, argv, {OptionSet::Compiler, run, printVersion, printEnvironment, printKernels});
}
