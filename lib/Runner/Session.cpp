// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Executes a loaded program as the options ask.
#include "Session.h"
#include "OutputFile.h"
#include "adjoint/Runner/CheckGradients.h"
#include "adjoint/Runner/Print.h"

#include <cstring>

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

Error writeJSON(llvm::StringRef path, const llvm::json::Value &value) {
  if (path.empty())
    return Error::success();
  std::string text = llvm::formatv("{0:2}\n", value).str();
  return writeFile(path, {text});
}

} // namespace

int Session::run() {
  auto input =
      llvm::MemoryBuffer::getFileOrSTDIN(options.input, /*IsText=*/false, /*RequiresNullTerminator=*/true,
                                         /*Alignment=*/std::nullopt);
  if (!input)
    return console.fail(usageError("cannot read '" + options.input + "': " + input.getError().message()));
  Frontend frontend(options, hooks, report, console, interrupted);
  if (options.checkGradients)
    return checkGradients(**input, frontend);
  Expected<LoadedProgram> program = frontend.load(**input);
  if (!program)
    return console.fail(program.takeError());
  console.clearProgress();
  if (Error error = writeJSON(options.numericsReport, program->numericsReport))
    return console.fail(std::move(error));
  return execute(*program, **input);
}

int Session::checkGradients(const llvm::MemoryBuffer &input, Frontend &frontend) {
  Expected<LoadedProgram> program = frontend.parse(input);
  if (!program)
    return console.fail(program.takeError());
  Expected<Bindings> bindings = bindSources(program->signature, options);
  if (!bindings)
    return console.fail(bindings.takeError());
  for (Tensor &argument : bindings->arguments) {
    Expected<Tensor> wide = widenToF64(argument);
    if (!wide)
      return console.fail(wide.takeError());
    argument = std::move(*wide);
  }
  Expected<std::unique_ptr<GradientRuns>> runs = frontend.loadGradients(*program);
  if (!runs)
    return console.fail(runs.takeError());
  console.progress("comparing gradients with differences");
  Expected<std::vector<GradientFinding>> findings =
      mlir::ad::runner::checkGradients((*runs)->makeProblem(), bindings->arguments);
  if (!findings)
    return console.fail(findings.takeError());
  console.clearProgress();
  return reportGradients(llvm::outs(), *findings) ? ExitDone : ExitCheckFailed;
}

int Session::execute(LoadedProgram &program, const llvm::MemoryBuffer &input) {
  Expected<Bindings> bindings = bindSources(program.signature, options);
  if (!bindings)
    return console.fail(bindings.takeError());
  Expected<std::unique_ptr<Outputs>> outputs = Outputs::create(program.signature, options, llvm::outs());
  if (!outputs)
    return console.fail(outputs.takeError());
  int code = runAll(program, *bindings, **outputs, input);
  // After a failure too: what was received is kept.
  if (Error error = (*outputs)->flush()) {
    int flushCode = console.fail(std::move(error));
    code = code == ExitDone ? flushCode : code;
  }
  return code;
}

void Session::showReceived(const char *name, const adrt_tensor &value) {
  int64_t count = ++received[name];
  if (options.print || !console.progressIsDue())
    return;
  std::string text = value.rank == 0 ? " = " + formatElement(value, 0) : "";
  console.progress(llvm::Twine("running: ") + name + text + " (" + llvm::Twine(count) + ")");
}

void Session::connect(adrt_context &context, Bindings &bindings, Outputs &outputs) {
  context.interrupted = interrupted;
  context.feed = [&](const char *name, const adrt_tensor &destination, std::string &error) {
    return bindings.feed(name, destination, error);
  };
  context.receive = [&](const char *name, const adrt_tensor *values, int32_t count, std::string &error) {
    if (count > 0)
      showReceived(name, values[0]);
    return outputs.receive(name, values, count, error);
  };
}

int Session::runAll(LoadedProgram &program, Bindings &bindings, Outputs &outputs,
                    const llvm::MemoryBuffer &input) {
  Expected<DonatedArguments> donated = DonatedArguments::save(program.signature, bindings);
  if (!donated)
    return console.fail(donated.takeError());
  adrt_context context;
  context.setThreads(report.threads = resolveThreads(options.threads));
  connect(context, bindings, outputs);
  std::vector<adrt_tensor> arguments, results(program.signature.results.size());
  for (const Tensor &argument : bindings.arguments)
    arguments.push_back(argument.view());

  StageScope stage(report.stages, "run");
  report.kernelNames = program.executable->getKernelNames();
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
    int32_t status = program.executable->run(context, arguments, results);
    if (index >= options.warmup)
      report.runs.push_back(std::chrono::duration<double>(Clock::now() - before).count());
    report.arenaBytes = context.getArenaBytes();
    report.kernels = context.getKernelTimes();
    if (status != ADRT_OK)
      return console.fail(status, context.getError(), input);
  }
  console.clearProgress();
  if (Error error = outputs.finish(results))
    return console.fail(std::move(error));
  return ExitDone;
}
