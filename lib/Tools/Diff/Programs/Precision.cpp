// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad-diff precision: the operations that must compute in f32 for a bound.
#include "ProgramCommands.h"
#include "ProgramOptions.h"
#include "adjoint/Numerics/PrecisionPolicy.h"
#include "adjoint/Runner/StandardHooks.h"
#include "adjoint/Runner/Trace/PrecisionSearch.h"
#include "adjoint/Runner/Trace/ShadowRun.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Expected;
using llvm::StringRef;

static Expected<std::unique_ptr<ProgramRun>> loadText(const Options &options, const std::string &text,
                                                      StringRef policy) {
  Options changed = options;
  changed.precision = policy.str();
  std::unique_ptr<llvm::MemoryBuffer> buffer = llvm::MemoryBuffer::getMemBuffer(text, options.input);
  Expected<std::unique_ptr<ProgramRun>> program =
      ProgramRun::load(*buffer, changed, standardHooks(), "ad-diff", Messages::Collect);
  if (!program)
    return program.takeError();
  if (llvm::Error error = (*program)->bind())
    return std::move(error);
  return program;
}

static Expected<RunValues> runText(const Options &options, const std::string &text, StringRef policy) {
  Expected<std::unique_ptr<ProgramRun>> program = loadText(options, text, policy);
  return program ? (*program)->run() : Expected<RunValues>(program.takeError());
}

// Runs the program and, beside each of its values, the same in f64 (the shadow). Conditions of branches are
// those of the program, for both.
static Expected<ExactValues> runExactText(const Options &options, const std::string &text, StringRef policy) {
  Expected<std::unique_ptr<ProgramRun>> program = loadText(options, text, policy);
  if (!program)
    return program.takeError();
  ShadowRun shadow((*program)->getModule(), ShadowOptions());
  ExactValues exact;
  if (llvm::Error error = (*program)->run(&shadow).moveInto(exact.actual))
    return std::move(error);
  exact.results.assign(shadow.getExactResults().begin(), shadow.getExactResults().end());
  exact.received.assign(shadow.getExactReceived().begin(), shadow.getExactReceived().end());
  exact.failures.assign(shadow.getFailures().begin(), shadow.getFailures().end());
  return std::move(exact);
}

Expected<DiffReport> mlir::ad::diff::runPrecision(const DiffOptions &options) {
  const std::string &path = options.inputs[0];
  if (auto policy = numerics::loadPolicy(options.policy, /*takesNone=*/false); !policy)
    return usageError("--policy: " + llvm::toString(policy.takeError()));
  // Explains errors of the program with its own text.
  if (Expected<std::unique_ptr<ProgramRun>> program = loadProgram(options, path, Target::Reference); !program)
    return program.takeError();
  Expected<Options> parsed = makeRunnerOptions(options, path, Target::Reference);
  if (!parsed)
    return parsed.takeError();
  Expected<std::unique_ptr<llvm::MemoryBuffer>> text = readProgram(path);
  if (!text)
    return text.takeError();
  PrecisionProblem problem{
      (*text)->getBuffer().str(),
      path,
      parsed->entry,
      options.policy,
      *options.bound,
      "--policy",
      [&](const std::string &changed, StringRef policy) { return runText(*parsed, changed, policy); },
      nullptr};
  if (options.againstF64)
    problem.runExact = [&](const std::string &changed, StringRef policy) {
      return runExactText(*parsed, changed, policy);
    };
  std::string program;
  Expected<DiffReport> report = findPrecision(problem, standardHooks(), program);
  if (!report)
    return report.takeError();
  report->title = "Precision of " + path;
  if (!program.empty() && !options.output.empty())
    if (llvm::Error error = writeFile(options.output, {StringRef(program)}))
      return std::move(error);
  return std::move(*report);
}
