// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Traces, replays, and the examinations of ad-diff for embedders.
#include "adjoint/Runner/Analysis.h"
#include "CallRun.h"
#include "Session/Replay.h"
#include "Trace/Trace.h"
#include "adjoint/Diff/RunComparison.h"
#include "adjoint/Runner/ProgramRun.h"
#include "adjoint/Runner/Trace/NonFiniteReport.h"
#include "adjoint/Runner/Trace/ObservedRun.h"
#include "adjoint/Runner/Trace/PrecisionSearch.h"
#include "adjoint/Runner/Trace/ShadowReport.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/Printable.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <map>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

std::unique_ptr<llvm::MemoryBuffer> bufferOf(const ProgramCall &call) {
  return llvm::MemoryBuffer::getMemBufferCopy(call.source, call.name);
}

/// The file of the trace that the program is written to has the name of the program, if that is one of a
/// file.
std::string inputName(StringRef name) {
  bool isFile = name.ends_with(".mlir") || name.ends_with(".mlirbc");
  return isFile ? llvm::sys::path::filename(name).str() : kStandardOutput.str();
}

Analysis toAnalysis(mlir::ad::diff::DiffReport report) {
  report.json["holds"] = report.boundHolds;
  return {mlir::ad::printableLines(report.tableText + report.text),
          mlir::ad::jsonLine(std::move(report.json)), std::move(report.warnings)};
}

bool setFailure(Failure &failure, Error error) {
  failure = makeFailure(std::move(error), {});
  return false;
}

/// The value of --bound; none if the text is empty.
Expected<std::optional<mlir::ad::diff::Bound>> readBound(const std::string &text,
                                                         llvm::ArrayRef<StringRef> measures) {
  std::optional<mlir::ad::diff::Bound> bound;
  if (!text.empty())
    if (Error error = mlir::ad::diff::parseBound(text, measures, "bound").moveInto(bound))
      return std::move(error);
  return std::move(bound);
}

/// Feeds of the host for several runs: their values are kept, because the host gives each of them once.
class RepeatedFeeds {
public:
  explicit RepeatedFeeds(const ProgramHost &host) : host(host) {}

  void rewind() { positions.clear(); }
  int32_t feed(const char *name, const adrt_tensor &destination, std::string &error) {
    std::vector<std::vector<char>> &values = kept[name];
    size_t &position = positions[name];
    auto bytes = static_cast<size_t>(adrt::byteSize(destination.type, destination.rank, destination.shape));
    if (position == values.size()) {
      error = "it has no source";
      if (int32_t status = host.feed ? host.feed(name, destination, error) : ADRT_HOST_ERROR)
        return status;
      const char *data = static_cast<const char *>(destination.data);
      values.emplace_back(data, data + bytes);
    } else if (values[position].size() == bytes) {
      std::memcpy(destination.data, values[position].data(), bytes);
    } else {
      error = "another size is requested than in the run before";
      return ADRT_HOST_ERROR;
    }
    ++position;
    return ADRT_OK;
  }

private:
  const ProgramHost &host;
  std::map<std::string, std::vector<std::vector<char>>> kept;
  std::map<std::string, size_t> positions;
};

/// Appends copies of values.
Error keep(std::vector<NamedTensor> &list, const std::string &name, const adrt_tensor &value) {
  Expected<Tensor> copy = Tensor::copyOf(value);
  if (!copy)
    return copy.takeError();
  list.push_back({name, std::move(*copy)});
  return Error::success();
}

/// Runs changed texts of a program on the reference interpreter.
class ChangedRuns {
public:
  ChangedRuns(const ProgramCall &call, Options options, const Hooks &hooks, Failure &failure)
      : call(call), options(std::move(options)), hooks(hooks), failure(failure), feeds(call.host) {
    this->options.target = Target::Reference;
  }

  /// An error without a message if the reason is in `failure`.
  Expected<RunValues> run(const std::string &text, StringRef policy) {
    Options changed = options;
    changed.precision = policy.str();
    RunValues values;
    feeds.rewind();
    ProgramHost host{[&](const char *name, const adrt_tensor &destination, std::string &error) {
                       return feeds.feed(name, destination, error);
                     },
                     [&](const char *name, const adrt_tensor *received, int32_t count, std::string &error) {
                       for (int32_t index = 0; index < count && error.empty(); ++index)
                         error = consumeExitError(keep(values.received, name, received[index])).second;
                       return error.empty() ? ADRT_OK : ADRT_HOST_ERROR;
                     },
                     call.host.interrupted};
    CallRun run(std::move(changed), hooks, host, failure);
    if (!run.load(llvm::MemoryBuffer::getMemBufferCopy(text, call.name), nullptr) ||
        !run.bind(call.arguments) || !run.run(nullptr)) {
      hasFailed = true;
      return exitError(ExitProgramError, "");
    }
    for (auto [spec, result] : llvm::zip_equal(run.getSignature().results, run.getResults()))
      if (Error error = keep(values.results, spec.name, result))
        return std::move(error);
    return std::move(values);
  }

  bool setFailure(Error error) {
    if (hasFailed)
      llvm::consumeError(std::move(error));
    else
      failure = makeFailure(std::move(error), {});
    return false;
  }

private:
  const ProgramCall &call;
  Options options;
  const Hooks &hooks;
  Failure &failure;
  RepeatedFeeds feeds;
  bool hasFailed = false; ///< and the reason is in `failure`
};

} // namespace

bool mlir::ad::runner::traceRun(const ProgramCall &call, const TraceSettings &settings, const Hooks &hooks,
                                std::vector<ProgramResult> &results, std::string &warning, Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  Expected<Options> options = makeRunnerOptions(call.options);
  if (!options)
    return setFailure(failure, options.takeError());
  options->trace = settings.folder;
  options->traceTensors = settings.tensors;
  options->input = inputName(call.name);
  CallRun run(std::move(*options), hooks, call.host, failure);
  std::unique_ptr<Tracer> tracer = makeTracer(run.getOptions(), call.source);
  if (Error error = tracer->open())
    return run.fail(std::move(error));
  if (!run.load(bufferOf(call), tracer.get()) || !run.bind(call.arguments) || !run.run(tracer.get()))
    return false;
  warning = tracer->getWarning();
  return run.copyResults(results);
}

bool mlir::ad::runner::replayRun(const ReplaySettings &settings, const Hooks &hooks, const ProgramHost &host,
                                 Replay &replay, Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  ProgramOptions given;
  given.threads = settings.threads;
  if (!settings.target.empty())
    given.target = settings.target;
  Expected<Options> options = makeRunnerOptions(given);
  if (!options)
    return setFailure(failure, options.takeError());
  options->replayFolder = settings.folder;
  options->targetGiven = !settings.target.empty();
  if (Error error = readReplay(*options))
    return setFailure(failure, std::move(error));
  Expected<std::unique_ptr<llvm::MemoryBuffer>> source = readProgram(options->input);
  if (!source)
    return setFailure(failure, source.takeError());
  CallRun run(std::move(*options), hooks, host, failure);
  if (!run.load(std::move(*source), nullptr) || !run.bindSources() || !run.run(nullptr))
    return false;
  Expected<std::vector<std::string>> different =
      findReplayDifferences(run.getOptions(), run.getSignature(), run.getResults());
  if (!different)
    return run.fail(different.takeError());
  replay.interface = describe(run.getSignature());
  replay.target = targetName(run.getOptions().target).str();
  replay.numerics = run.getNumerics();
  replay.different = std::move(*different);
  return run.copyResults(replay.results);
}

bool mlir::ad::runner::findNonFinites(const ProgramCall &call, const Hooks &hooks, Analysis &analysis,
                                      Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  Expected<Options> options = makeRunnerOptions(call.options);
  if (!options)
    return setFailure(failure, options.takeError());
  NonFiniteOutputs outputs;
  ProgramHost host = call.host;
  host.receive = [&](const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
    adrt::FloatingPointScope floatingPoint;
    for (int32_t index = 0; index < count; ++index)
      outputs.add(count == 1 ? std::string(name) : name + ("." + std::to_string(index)), values[index]);
    adrt::HostStateScope hostState;
    return call.host.receive ? call.host.receive(name, values, count, error) : ADRT_OK;
  };
  CallRun run(std::move(*options), hooks, host, failure);
  NonFiniteFinder finder;
  ObservedRun observed(run.getOptions().target, finder);
  observeFolded(observed, finder);
  if (!run.load(bufferOf(call), &observed) || !run.bind(call.arguments))
    return false;
  bool done = run.run(&observed);
  if (done)
    for (auto [spec, result] : llvm::zip_equal(run.getSignature().results, run.getResults()))
      outputs.add(spec.name, result);
  analysis = toAnalysis(reportNonFinites(finder, outputs, /*failed=*/!done));
  return done;
}

bool mlir::ad::runner::measureErrors(const ProgramCall &call, unsigned samples, uint64_t seed,
                                     const std::string &bound, const Hooks &hooks, Analysis &analysis,
                                     Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  Expected<Options> options = makeRunnerOptions(call.options);
  if (!options)
    return setFailure(failure, options.takeError());
  Expected<std::optional<diff::Bound>> limits = readBound(bound, diff::kTensorMeasures);
  if (!limits)
    return setFailure(failure, limits.takeError());
  options->target = Target::Reference;
  CallRun run(std::move(*options), hooks, call.host, failure);
  if (!run.load(bufferOf(call), nullptr) || !run.bind(call.arguments))
    return false;
  ShadowOptions shadow{samples, seed};
  ShadowRun errors(run.getModule(), shadow);
  ObservedRun observed(Target::Reference, errors);
  if (!run.run(&observed))
    return false;
  diff::ShadowOrder order = samples == 0 ? diff::ShadowOrder::Local : diff::ShadowOrder::Digits;
  analysis = toAnalysis(reportShadow(errors, shadow, order, run.getSignature(), *limits));
  return true;
}

bool mlir::ad::runner::searchPrecision(const ProgramCall &call, const std::string &policy,
                                       const std::string &bound, const Hooks &hooks, Analysis &analysis,
                                       Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  Expected<Options> options = makeRunnerOptions(call.options);
  if (!options)
    return setFailure(failure, options.takeError());
  Expected<diff::Bound> limits = diff::parseBound(bound, diff::kTensorMeasures, "bound");
  if (!limits)
    return setFailure(failure, limits.takeError());
  ChangedRuns runs(call, std::move(*options), hooks, failure);
  PrecisionProblem problem{std::string(call.source),
                           std::string(call.name),
                           call.options.entry,
                           policy,
                           std::move(*limits),
                           "policy",
                           [&](const std::string &text, StringRef name) { return runs.run(text, name); }};
  std::string program;
  Expected<diff::DiffReport> report = findPrecision(problem, hooks, program);
  if (!report)
    return runs.setFailure(report.takeError());
  report->json["program"] = program;
  analysis = toAnalysis(std::move(*report));
  return true;
}

bool mlir::ad::runner::compareTraces(const std::string &left, const std::string &right,
                                     const std::string &bound, Analysis &analysis, Failure &failure) {
  adrt::FloatingPointScope floatingPoint;
  Expected<std::optional<diff::Bound>> limits = readBound(bound, diff::kRunsMeasures);
  if (!limits)
    return setFailure(failure, limits.takeError());
  Expected<diff::DiffReport> report = diff::compareRuns(left, right, *limits, diff::getUsualThresholds());
  if (!report)
    return setFailure(failure, report.takeError());
  if (!report->errors.empty())
    return setFailure(failure, usageError(report->errors.front()));
  analysis = toAnalysis(std::move(*report));
  return true;
}
