// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff shadow: the rounding errors of a program, operation by operation.
#include "ProgramCommands.h"
#include "ProgramOptions.h"
#include "adjoint/Runner/Trace/ShadowReport.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Expected;

Expected<DiffReport> mlir::ad::diff::runShadow(const DiffOptions &options) {
  Expected<std::unique_ptr<ProgramRun>> program = loadProgram(options, options.inputs[0], Target::Reference);
  if (!program)
    return program.takeError();
  ShadowOptions shadow{options.samples, options.seed};
  ShadowRun run((*program)->getModule(), shadow);
  Expected<RunValues> values = (*program)->run(&run);
  if (!values)
    return values.takeError();
  DiffReport report = reportShadow(run, shadow, options.order, (*program)->getSignature(), options.bound);
  report.title = "Rounding errors of " + options.inputs[0];
  return std::move(report);
}
