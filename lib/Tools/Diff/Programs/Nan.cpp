// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff nan: the operations of a program that make NaNs and infinities.
#include "ProgramCommands.h"
#include "ProgramOptions.h"
#include "adjoint/Runner/Trace/NonFiniteReport.h"
#include "adjoint/Runner/Trace/ObservedRun.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Expected;

Expected<DiffReport> mlir::ad::diff::runNan(const DiffOptions &options) {
  Expected<Target> target = parseTarget(options.target);
  if (!target)
    return target.takeError();
  NonFiniteFinder finder;
  ObservedRun observed(*target, finder);
  observeFolded(observed, finder);
  Expected<std::unique_ptr<ProgramRun>> program = loadProgram(options, options.inputs[0], *target, &observed);
  if (!program)
    return program.takeError();
  Expected<RunOutcome> outcome = (*program)->runToEnd(observed);
  if (!outcome)
    return outcome.takeError();
  NonFiniteOutputs outputs;
  for (const std::vector<NamedTensor> *list : {&outcome->values.received, &outcome->values.results})
    for (const NamedTensor &named : *list)
      outputs.add(named.name, named.value.view());
  DiffReport report = reportNonFinites(finder, outputs, /*failed=*/!outcome->error.empty());
  report.failure = outcome->error;
  report.title = "NaNs and infinities of " + options.inputs[0];
  return std::move(report);
}
