// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs a program for an embedder.
#include "CallRun.h"
#include "Trace/TensorQueue.h"
#include "adjoint/Runtime/Host/ThreadPool.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FloatingPointState.h"
#include "adjoint/Support/TraceName.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

/// The values of a feed come from the host. They are kept, because the host gives each of them once.
class HostFeed final : public Feed {
public:
  HostFeed(std::string name, const adrt_context::Feed &feed) : name(std::move(name)), feed(feed) {}

  /// Must come first.
  Error open() {
    llvm::SmallString<64> folder;
    llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, folder);
    return queue.open(folder);
  }
  Error next(const adrt_tensor &destination) override {
    return rewound ? nextKept(destination) : nextOfHost(destination);
  }
  void rewind() override {
    if (Error error = queue.rewind())
      llvm::consumeError(std::move(error)); // then it has no values, which is an error of `next`
    rewound = true;
  }

private:
  Error nextOfHost(const adrt_tensor &destination) {
    std::string error = "it has no source";
    if (!feed || callHost(destination, error) != ADRT_OK)
      return exitError(ExitProgramError, error);
    return queue.push(destination);
  }
  int32_t callHost(const adrt_tensor &destination, std::string &error) const {
    adrt::HostStateScope hostState;
    return feed(name.c_str(), destination, error);
  }
  Error nextKept(const adrt_tensor &destination) {
    std::optional<ad::reference::Tensor> value = queue.pop();
    int64_t bytes = adrt::byteSize(destination.type, destination.rank, destination.shape);
    if (!value || value->getNumBytes() != bytes)
      return exitError(ExitProgramError, "it has no more values of the run");
    std::memcpy(destination.data, value->bytes(), static_cast<size_t>(bytes));
    return Error::success();
  }

  std::string name;
  const adrt_context::Feed &feed;
  TensorQueue queue;
  bool rewound = false;
};

} // namespace

CallRun::CallRun(Options options, const Hooks &hooks, const ProgramHost &host, Failure &failure)
    : options(std::move(options)), hooks(hooks), host(host), failure(failure),
      interrupted(host.interrupted ? host.interrupted : [] { return false; }) {}

bool CallRun::fail(Error error) {
  failure = makeFailure(std::move(error), std::move(recorder.messages));
  return false;
}

bool CallRun::failAtFile(Error error) {
  fail(std::move(error));
  if (failure.reason == Failure::Reason::Options)
    failure.reason = Failure::Reason::File;
  return false;
}

bool CallRun::load(std::unique_ptr<llvm::MemoryBuffer> source, CompilationObserver *observer) {
  Frontend frontend(options, hooks, report, recorder, interrupted);
  frontend.setObserver(observer);
  Expected<LoadedProgram> loaded = frontend.load(*source);
  if (!loaded)
    return fail(loaded.takeError());
  program = std::move(*loaded);
  report.threads = resolveThreads(options.threads);
  context.setThreads(report.threads);
  adrt::ThreadPool::get().reserve(report.threads);
  return true;
}

bool CallRun::bind(llvm::ArrayRef<adrt_tensor> arguments) {
  for (const adrt_tensor &argument : arguments) {
    Expected<Tensor> copy = Tensor::copyOf(argument);
    if (!copy)
      return fail(copy.takeError());
    bindings.arguments.push_back(std::move(*copy));
  }
  for (const TensorSpec &spec : program.signature.feeds) {
    auto feed = std::make_unique<HostFeed>(spec.name, host.feed);
    if (Error error = feed->open())
      return failAtFile(std::move(error));
    bindings.feeds[spec.name] = std::move(feed);
  }
  return true;
}

bool CallRun::bindSources() {
  Expected<Bindings> bound = runner::bindSources(program.signature, options);
  if (!bound)
    return fail(bound.takeError());
  bindings = std::move(*bound);
  return true;
}

void CallRun::connect(adrt_context &context, Tracer *tracer) {
  context.interrupted = interrupted;
  context.replays = options.replay;
  context.feed = [this, tracer](const char *name, const adrt_tensor &destination, std::string &error) {
    adrt::FloatingPointScope floatingPoint;
    int32_t status = bindings.feed(name, destination, error);
    return tracer && status == ADRT_OK ? tracer->fed(name, destination, error) : status;
  };
  context.receive = [this, tracer](const char *name, const adrt_tensor *values, int32_t count,
                                   std::string &error) -> int32_t {
    adrt::FloatingPointScope floatingPoint;
    llvm::ArrayRef<adrt_tensor> views(values, static_cast<size_t>(count));
    if (int32_t status = tracer ? tracer->received(name, views, error) : ADRT_OK)
      return status;
    if (name == kTraceName || !host.receive)
      return ADRT_OK;
    adrt::HostStateScope hostState;
    return host.receive(name, values, count, error);
  };
}

bool CallRun::run(Tracer *tracer) {
  connect(context, tracer);
  Executable &executable = *program.executable;
  std::vector<Message> diagnostics;
  std::optional<DiagnosticCollector> collector;
  if (program.context)
    collector.emplace(program.context.get(), diagnostics, /*onlyThisThread=*/true);
  if (tracer)
    if (Error error = tracer->start(program.signature, bindings, executable, interrupted))
      return failAtFile(std::move(error));
  executable.setEmulation(options.emulation, /*countTraffic=*/false);
  std::vector<adrt_tensor> arguments;
  for (const Tensor &argument : bindings.arguments)
    arguments.push_back(argument.view());
  results.resize(program.signature.results.size());
  int32_t status = executable.run(context, arguments, results);
  if (status != ADRT_OK)
    results.clear();
  Error traced = tracer ? tracer->finish(status, context.getError(), results, report) : Error::success();
  executable.setObserver(nullptr);
  if (status != ADRT_OK) {
    llvm::consumeError(std::move(traced)); // the error of the program comes first
    failure = makeFailure(status, context.getError(), std::move(diagnostics));
    return false;
  }
  return traced ? failAtFile(std::move(traced)) : true;
}

bool CallRun::copyResults(std::vector<ProgramResult> &copies) {
  copies.clear();
  for (const adrt_tensor &view : results) {
    ProgramResult &copy = copies.emplace_back();
    copy.type = static_cast<adrt_type>(view.type);
    copy.shape.assign(view.shape, view.shape + view.rank);
    int64_t bytes = adrt::byteSize(view.type, view.rank, view.shape);
    if (!copy.data.reserve(bytes)) {
      failure = {Failure::Reason::Host, "not enough memory for a result", "", "", {}};
      return false;
    }
    std::memcpy(copy.data.data(), view.data, static_cast<size_t>(bytes));
  }
  return true;
}
