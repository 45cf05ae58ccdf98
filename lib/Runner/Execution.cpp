// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a loaded program as the options ask.
#include "Execution.h"
#include "adjoint/Runner/Print.h"
#include "adjoint/Runtime/ThreadPool.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>
#include <unistd.h>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

/// Arguments whose buffers the program may overwrite, as they were at first.
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
                   llvm::MemoryBufferRef source) {
  Expected<Bindings> bindings = bindSources(signature, options, std::move(weights));
  if (!bindings)
    return console.fail(bindings.takeError());
  Expected<std::unique_ptr<Outputs>> outputs = Outputs::create(signature, options, llvm::outs());
  if (!outputs)
    return console.fail(outputs.takeError());
  int code = runAll(executable, signature, *bindings, **outputs, source);
  // After a failure too: what was received is kept.
  if (Error error = (*outputs)->flush()) {
    int flushCode = console.fail(std::move(error));
    code = code == ExitDone ? flushCode : code;
  }
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
  context.feedsAhead = true; // they come from files and generators
  context.feed = [&](const char *name, const adrt_tensor &destination, std::string &error) {
    return bindings.feed(name, destination, error);
  };
  context.receive = [&](const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
    if (count > 0)
      showReceived(name, values[0]);
    return outputs.receive(name, values, count, error);
  };
}

/// While a kernel is stuck, so is the thread that runs the program: nobody else uses console and outputs.
void Execution::watch(adrt_context &context, Outputs &outputs, llvm::MemoryBufferRef source) {
  if (options.timeoutKernel <= 0)
    return;
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
  context.watchKernels(std::chrono::duration<double>(options.timeoutKernel), expired);
}

int Execution::runAll(Executable &executable, const Signature &signature, Bindings &bindings,
                      Outputs &outputs, llvm::MemoryBufferRef source) {
  Expected<DonatedArguments> donated = DonatedArguments::save(signature, bindings);
  if (!donated)
    return console.fail(donated.takeError());
  adrt_context context;
  context.setThreads(report.threads = resolveThreads(options.threads));
  connect(context, bindings, outputs);
  watch(context, outputs, source);
  std::vector<adrt_tensor> arguments, results(signature.results.size());
  for (const Tensor &argument : bindings.arguments)
    arguments.push_back(argument.view());

  executable.setEmulation(options.emulation, options.traffic);
  StageScope stage(report.stages, "run");
  report.kernelNames = executable.getKernelNames();
  report.warmup = options.warmup;
  report.startupSeconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (unsigned index = 0; index < options.warmup + options.repeat; ++index) {
    if (index > 0) {
      donated->restore(bindings);
      bindings.rewindFeeds();
    }
    if (index == options.warmup)
      context.clearKernelTimes();
    outputs.setRecording(index == options.warmup);
    Clock::time_point before = Clock::now();
    int32_t status = executable.run(context, arguments, results);
    if (index >= options.warmup)
      report.runs.push_back(std::chrono::duration<double>(Clock::now() - before).count());
    report.arenaBytes = context.getArenaBytes();
    report.sharedLoops = adrt::ThreadPool::get().getSharedLoops();
    report.kernels = context.getKernelTimes();
    report.traffic = executable.getTraffic().vec();
    report.replays = context.getDevice() ? context.getDevice()->getReplays() : adrt::ReplayCounts();
    if (status != ADRT_OK)
      return console.fail(status, context.getError(), source);
  }
  console.clearProgress();
  if (Error error = outputs.finish(results))
    return console.fail(std::move(error));
  printTraffic(llvm::outs(), report.traffic);
  if (options.repeat > 1)
    console.note("median of " + llvm::Twine(options.repeat) +
                 " runs: " + llvm::formatv("{0:f3} ms", median(report.runs) * 1e3).str());
  return ExitDone;
}
