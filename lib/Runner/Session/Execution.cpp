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

/// The arguments of repeated runs. Those that the program may overwrite get their values again before each
/// run but the first. With a device they stay in its memory, where each is copied once.
class Arguments {
public:
  /// `bindings` and `context` outlive this object. A device is that of the context.
  static Expected<Arguments> make(const Signature &signature, const Bindings &bindings) {
    Arguments arguments;
    for (auto [spec, tensor] : llvm::zip_equal(signature.arguments, bindings.arguments)) {
      arguments.views.push_back(tensor.view());
      Expected<Tensor> copy = spec.donated ? tensor.clone() : Tensor();
      if (!copy)
        return copy.takeError();
      arguments.overwritten.push_back(spec.donated ? std::optional(std::move(*copy)) : std::nullopt);
    }
    return std::move(arguments);
  }
  Arguments(Arguments &&) = default;
  Arguments &operator=(Arguments &&) = delete;
  ~Arguments() {
    for (const adrt_tensor &view : views)
      if (view.memory == ADRT_DEVICE_MEMORY)
        device->release(view.data);
  }

  adrt::Outcome moveTo(adrt::Device &target) {
    device = &target;
    for (adrt_tensor &view : views) {
      int64_t bytes = adrt::byteSize(view.type, view.rank, view.shape);
      void *memory = target.allocate(bytes);
      if (!memory)
        return target.explainFailure("an argument of " + std::to_string(bytes) + " bytes");
      const void *values = std::exchange(view.data, memory);
      view.memory = ADRT_DEVICE_MEMORY;
      if (adrt::Outcome outcome = target.write(memory, values, bytes); !outcome.ok())
        return outcome;
    }
    return target.synchronize();
  }

  adrt::Outcome restore() const {
    for (auto [view, values] : llvm::zip_equal(views, overwritten)) {
      if (!values)
        continue;
      if (view.memory == ADRT_HOST_MEMORY) {
        std::memcpy(view.data, values->getData(), static_cast<size_t>(values->getByteSize()));
        continue;
      }
      if (adrt::Outcome outcome = device->write(view.data, values->getData(), values->getByteSize());
          !outcome.ok())
        return outcome;
    }
    return device ? device->synchronize() : adrt::Outcome();
  }

  llvm::ArrayRef<adrt_tensor> get() const { return views; }

private:
  Arguments() = default;

  std::vector<adrt_tensor> views;
  std::vector<std::optional<Tensor>> overwritten; ///< their values; none of the others
  adrt::Device *device = nullptr;
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

/// Moves the arguments to the device of a program that is measured, where its results stay.
static int32_t keepOnDevice(adrt_context &context, Arguments &arguments, size_t results) {
  adrt::Device *device = context.getDevice();
  if (!device)
    return ADRT_OK;
  context.results.outputs.assign(results, {nullptr, nullptr, 0, 0, ADRT_DEVICE_MEMORY});
  return context.run([&] { return context.finish(arguments.moveTo(*device), nullptr); });
}

static int32_t restore(adrt_context &context, const Arguments &arguments) {
  adrt::Outcome outcome = arguments.restore();
  return outcome.ok() ? ADRT_OK : context.run([&] { return context.finish(outcome, nullptr); });
}

// Called for a failed run, too: the report has its times.
void Execution::recordRun(adrt_context &context, Executable &executable, std::optional<double> seconds) {
  if (seconds)
    report.runs.push_back(context.measured.value_or(*seconds));
  report.arenaBytes = context.getArenaBytes();
  report.sharedLoops = adrt::ThreadPool::get().getSharedLoops() - sharedBefore;
  report.kernels = context.kernelTimes.get();
  report.traffic = executable.getTraffic().vec();
  report.graphs = context.getDevice() ? context.getDevice()->getGraphCounts() : adrt::GraphCounts();
}

int Execution::finish(adrt_context &context, const Signature &signature, Outputs &outputs,
                      llvm::ArrayRef<adrt_tensor> results) {
  console.clearProgress();
  if (context.measured) {
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

int32_t Execution::runOnce(unsigned index, Executable &executable, adrt_context &context,
                           llvm::ArrayRef<adrt_tensor> arguments, Outputs &outputs,
                           llvm::MutableArrayRef<adrt_tensor> results) {
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
  adrt_context context;
  Expected<Arguments> arguments = Arguments::make(signature, bindings);
  if (!arguments)
    return console.fail(arguments.takeError());
  context.setThreads(report.threads);
  connect(context, bindings, outputs);
  if (Error error = watch(context, outputs, source))
    return console.fail(std::move(error));
  sharedBefore = adrt::ThreadPool::get().getSharedLoops();

  if (tracer)
    if (Error error = tracer->start(signature, bindings, executable, interrupted))
      return console.fail(std::move(error));
  executable.setEmulation(options.emulation, options.traffic);
  StageScope stage(report.stages, "run");
  report.kernelNames = executable.getKernelNames();
  report.warmup = options.warmup;
  std::vector<adrt_tensor> results(signature.results.size());
  if (!options.bench.empty()) {
    int32_t status = executable.prepare(context);
    if (status == ADRT_OK)
      status = keepOnDevice(context, *arguments, results.size());
    if (status != ADRT_OK)
      return console.fail(status, context.getError(), source);
    context.measured = 0;
  }
  report.startupSeconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (unsigned index = 0; index < runCount(); ++index) {
    if (index > 0)
      bindings.rewindFeeds();
    int32_t status = index > 0 ? restore(context, *arguments) : ADRT_OK;
    if (status == ADRT_OK)
      status = runOnce(index, executable, context, arguments->get(), outputs, results);
    if (status != ADRT_OK)
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
