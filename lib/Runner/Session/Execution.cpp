// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a loaded program with the options.
#include "Execution.h"
#include "../IO/Print.h"
#include "Bench.h"
#include "Replay.h"
#include "adjoint/Runtime/Host/ThreadPool.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/TraceName.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <unistd.h>

using namespace mlir::ad;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

/// Copies of the arguments whose buffers the program may overwrite.
class DonatedArguments {
public:
  static Expected<DonatedArguments> save(const Signature &signature, const Bindings &bindings) {
    DonatedArguments saved;
    for (auto [index, spec] : llvm::enumerate(signature.arguments)) {
      if (!spec.donated)
        continue;
      Expected<Tensor> copy = bindings.arguments[index].clone();
      if (!copy)
        return copy.takeError();
      saved.copies.emplace_back(index, std::move(*copy));
    }
    return std::move(saved);
  }

  void restore(Bindings &bindings) const {
    for (const auto &[index, copy] : copies)
      std::memcpy(bindings.arguments[index].getData(), copy.getData(),
                  static_cast<size_t>(copy.getByteSize()));
  }

private:
  std::vector<std::pair<size_t, Tensor>> copies;
};

} // namespace

int Execution::run(Executable &executable, const Signature &signature, std::vector<Weight> weights,
                   llvm::MemoryBufferRef source, Tracer *newTracer) {
  tracer = newTracer;
  // All threads generate random arguments.
  report.threads = resolveThreads(options.threads);
  adrt::ThreadPool::get().reserve(report.threads);
  Expected<Bindings> bindings = bindSources(signature, options, std::move(weights));
  if (!bindings)
    return console.fail(bindings.takeError());
  for (const std::string &warning : bindings->warnings)
    console.warn(warning);
  Expected<std::unique_ptr<Outputs>> outputs = Outputs::create(signature, options, llvm::outs());
  if (!outputs)
    return console.fail(outputs.takeError());
  int code = runAll(executable, signature, *bindings, **outputs, source);
  // After a failure too: the files then have the values that were received before.
  if (Error error = (*outputs)->flush()) {
    int flushCode = console.fail(std::move(error));
    code = code == ExitDone ? flushCode : code;
  }
  if (code == ExitDone)
    if (Error error = (*outputs)->complete())
      code = console.fail(std::move(error));
  return code;
}

void Execution::showReceived(const char *name, const adrt_tensor &value) {
  int64_t count = ++received[name];
  if (options.print || !console.progressIsDue())
    return;
  std::string text = value.rank == 0 ? " = " + formatElement(value, 0) : "";
  console.progress(llvm::Twine("running: ") + name + text + " (" + llvm::Twine(count) + ")");
}

void Execution::connect(adrt_context &context, Bindings &bindings, Outputs &outputs) {
  context.interrupted = interrupted;
  context.replays = options.replay;
  context.warn = [this](const adrt_site *site, const std::string &message) {
    console.warn((site ? std::string(site->location) + ": " : "") + message);
  };
  context.feedsAhead = true; // files and generators do not depend on received values
  context.feed = [&](const char *name, const adrt_tensor &destination, std::string &error) {
    adrt::FloatingPointScope floatingPoint;
    int32_t status = bindings.feed(name, destination, error);
    return tracer && status == ADRT_OK ? tracer->fed(name, destination, error) : status;
  };
  context.receive = [&](const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
    adrt::FloatingPointScope floatingPoint;
    return receive(outputs, name, {values, static_cast<size_t>(count)}, error);
  };
}

int32_t Execution::receive(Outputs &outputs, const char *name, llvm::ArrayRef<adrt_tensor> values,
                           std::string &error) {
  if (tracer)
    if (int32_t status = tracer->received(name, values, error))
      return status;
  if (name == kTraceName)
    return ADRT_OK;
  if (!values.empty())
    showReceived(name, values[0]);
  return outputs.receive(name, values.data(), static_cast<int32_t>(values.size()), error);
}

/// The callback may use the console and the outputs: the thread that runs the program waits for the kernel.
Error Execution::watch(adrt_context &context, Outputs &outputs, llvm::MemoryBufferRef source) {
  if (options.timeoutKernel <= 0)
    return Error::success();
  auto expired = [this, &outputs, source](const std::string &kernel, const adrt_site &site) {
    std::string limit;
    llvm::raw_string_ostream(limit) << llvm::format("%g", options.timeoutKernel);
    console.fail(ADRT_PROGRAM_ERROR,
                 {ADRT_PROGRAM_ERROR, site.location, site.operation,
                  "kernel '" + kernel + "' has not ended after " + limit + " seconds, the process ends"},
                 source);
    if (Error error = outputs.flush())
      console.fail(std::move(error));
    llvm::outs().flush();
    ::_exit(ExitStuck);
  };
  if (context.watchKernels(std::chrono::duration<double>(options.timeoutKernel), expired))
    return Error::success();
  return exitError(ExitNoTarget,
                   "--timeout-kernel needs a thread, and none can be started: " +
                       std::error_code(errno, std::generic_category()).message() +
                       "; raise the limit on processes (see ulimit -u) or on memory (see ulimit "
                       "-v), or leave the option out");
}

void Execution::measure(adrt_context &context, const Signature &signature) {
  context.measurement.emplace();
  for (const TensorSpec &spec : signature.arguments)
    context.measurement->overwritten.push_back(spec.donated.has_value());
}

// Called for a failed run, too: the report has its times.
void Execution::recordRun(adrt_context &context, Executable &executable, std::optional<double> seconds) {
  if (seconds)
    report.runs.push_back(context.measurement ? context.measurement->seconds : *seconds);
  report.arenaBytes = context.getArenaBytes();
  report.sharedLoops = adrt::ThreadPool::get().getSharedLoops() - sharedBefore;
  report.kernels = context.kernelTimes.get();
  report.traffic = executable.getTraffic().vec();
  report.graphs = context.getDevice() ? context.getDevice()->getGraphCounts() : adrt::GraphCounts();
}

int Execution::finish(adrt_context &context, const Signature &signature, Outputs &outputs,
                      llvm::ArrayRef<adrt_tensor> results) {
  console.clearProgress();
  if (context.measurement) {
    Error error = writeBenchLine(options, report, context.getDevice());
    return error ? console.fail(std::move(error)) : ExitDone;
  }
  if (Error error = outputs.finish(results))
    return console.fail(std::move(error));
  if (!options.replayFolder.empty())
    if (Error error = checkReplay(options, signature, results))
      return console.fail(std::move(error));
  printTraffic(llvm::outs(), report.traffic);
  if (options.repeat > 1)
    console.note("median of " + llvm::Twine(options.repeat) +
                 " runs: " + llvm::formatv("{0:f3} ms", median(report.runs) * 1e3).str());
  return ExitDone;
}

int32_t Execution::runOnce(unsigned index, Executable &executable, adrt_context &context, Bindings &bindings,
                           Outputs &outputs, llvm::MutableArrayRef<adrt_tensor> results) {
  std::vector<adrt_tensor> arguments;
  for (const Tensor &argument : bindings.arguments)
    arguments.push_back(argument.view());
  if (index == options.warmup)
    context.kernelTimes.clear();
  outputs.setRecording(index == options.warmup);
  Clock::time_point before = Clock::now();
  int32_t status = executable.run(context, arguments, results);
  double wall = std::chrono::duration<double>(Clock::now() - before).count();
  recordRun(context, executable, index >= options.warmup ? std::optional(wall) : std::nullopt);
  return status;
}

// The results of the last run are kept.
Error Execution::checkInterruptAfter(unsigned index) const {
  if (index + 1 == runCount() || !interrupted || !interrupted())
    return Error::success();
  return exitError(ExitInterrupted, "interrupted after " + llvm::Twine(index + 1) + " of " +
                                        llvm::Twine(runCount()) + " runs");
}

int Execution::runAll(Executable &executable, const Signature &signature, Bindings &bindings,
                      Outputs &outputs, llvm::MemoryBufferRef source) {
  Expected<DonatedArguments> donated = DonatedArguments::save(signature, bindings);
  if (!donated)
    return console.fail(donated.takeError());
  adrt_context context;
  context.setThreads(report.threads);
  connect(context, bindings, outputs);
  if (Error error = watch(context, outputs, source))
    return console.fail(std::move(error));
  if (!options.bench.empty())
    measure(context, signature);
  sharedBefore = adrt::ThreadPool::get().getSharedLoops();

  if (tracer)
    if (Error error = tracer->start(signature, bindings, executable, interrupted))
      return console.fail(std::move(error));
  executable.setEmulation(options.emulation, options.traffic);
  StageScope stage(report.stages, "run");
  report.kernelNames = executable.getKernelNames();
  report.warmup = options.warmup;
  report.startupSeconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<adrt_tensor> results(signature.results.size());
  for (unsigned index = 0; index < runCount(); ++index) {
    if (index > 0) {
      donated->restore(bindings);
      bindings.rewindFeeds();
    }
    if (int32_t status = runOnce(index, executable, context, bindings, outputs, results); status != ADRT_OK)
      return finishTrace(status, context, {}, console.fail(status, context.getError(), source));
    if (Error error = checkInterruptAfter(index))
      return console.fail(std::move(error));
  }
  return finishTrace(ADRT_OK, context, results, finish(context, signature, outputs, results));
}

int Execution::finishTrace(int32_t status, adrt_context &context, llvm::ArrayRef<adrt_tensor> results,
                           int code) {
  if (!tracer)
    return code;
  Error error = tracer->finish(status, context.getError(), results, report);
  int traceCode = error ? console.fail(std::move(error)) : ExitDone;
  if (std::string warning = tracer->getWarning();
      traceCode == ExitDone && status == ADRT_OK && !warning.empty())
    console.warn("--trace-tensors: " + warning);
  return code == ExitDone ? traceCode : code;
}
