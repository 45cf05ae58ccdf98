// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads the program, and runs it, checks its gradients or writes it.
#include "Session.h"
#include "../AOT/EmitLibrary.h"
#include "../IO/InputFile.h"
#include "../Trace/Trace.h"
#include "CheckGradients.h"
#include "ConsoleListener.h"
#include "Execution.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/OutputFile.h"

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

Error writeJSON(llvm::StringRef path, const llvm::json::Value &value) {
  return path.empty() ? Error::success() : writeFile(path, {mlir::ad::jsonText(value)});
}

Error writeRewrites(const std::string &path, const std::string &text) {
  return path.empty() ? Error::success() : writeFile(path, {llvm::StringRef(text)});
}

} // namespace

int Session::run() {
  auto input = readInput(options.input, [](llvm::StringRef) -> Expected<uint64_t> { return 0; });
  if (!input)
    return console.fail(input.takeError());
  ConsoleListener listener(console);
  Frontend frontend(options, hooks, report, listener, interrupted);
  if (options.checkGradients)
    return checkGradients(**input, frontend);
  if (!options.emit.empty())
    return emit(**input, frontend);
  std::unique_ptr<Tracer> tracer;
  if (Error error = openTrace(**input, tracer))
    return console.fail(std::move(error));
  frontend.setObserver(tracer.get());
  Expected<LoadedProgram> program = frontend.load(**input);
  if (!program)
    return console.fail(program.takeError());
  console.clearProgress();
  if (Error error = writeJSON(options.numericsReport, program->numericsReport))
    return console.fail(std::move(error));
  if (Error error = writeRewrites(options.listRewrites, program->rewrites))
    return console.fail(std::move(error));
  return Execution(options, report, console, interrupted, start)
      .run(*program->executable, program->signature, {}, **input, tracer.get());
}

Error Session::openTrace(const llvm::MemoryBuffer &input, std::unique_ptr<Tracer> &tracer) {
  if (options.trace.empty())
    return Error::success();
  tracer = makeTracer(options, input.getBuffer());
  return tracer->open();
}

int Session::emit(const llvm::MemoryBuffer &input, Frontend &frontend) {
  Expected<CpuTarget> cpu = findCpu(options.cpu, /*elsewhere=*/true);
  if (!cpu)
    return console.fail(cpu.takeError());
  Expected<CompiledProgram> program = frontend.compileOnce(input, *cpu);
  if (!program)
    return console.fail(program.takeError());
  console.clearProgress();
  report.kernelNames = program->kernels;
  if (Error error = writeJSON(options.numericsReport, program->numericsReport))
    return console.fail(std::move(error));
  if (Error error = writeRewrites(options.listRewrites, program->rewrites))
    return console.fail(std::move(error));
  Warnings warnings;
  Expected<std::vector<Weight>> weights = bindWeights(program->signature, options, warnings);
  if (!weights)
    return console.fail(weights.takeError());
  for (const std::string &warning : warnings)
    console.warn(warning);
  StageScope stage(report.stages, "emit");
  Error error = emitProgram(options.emit, std::move(*program), *cpu, std::move(*weights));
  // A terminal interrupts the linker too, whose end is no fault of the program.
  if (error && interrupted()) {
    llvm::consumeError(std::move(error));
    error = exitError(ExitInterrupted, "interrupted");
  }
  return error ? console.fail(std::move(error)) : ExitDone;
}

int Session::checkGradients(const llvm::MemoryBuffer &input, Frontend &frontend) {
  Expected<LoadedProgram> program = frontend.parse(input);
  if (!program)
    return console.fail(program.takeError());
  Expected<Bindings> bindings = bindSources(program->signature, options);
  if (!bindings)
    return console.fail(bindings.takeError());
  for (const std::string &warning : bindings->warnings)
    console.warn(warning);
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
  if (reportGradients(llvm::outs(), *findings))
    return ExitDone;
  std::string names;
  for (const GradientFinding &finding : *findings)
    if (finding.failed)
      names += (names.empty() ? "'" : ", '") + finding.name + "'";
  return console.fail(exitError(ExitCheckFailed, "gradients of @" + options.entry + " by " + names +
                                                     " differ from differences of its values"));
}
