// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One run of a program for an embedder, under a tracer. Internal to the library.
#ifndef ADJOINT_LIB_RUNNER_CALLRUN_H
#define ADJOINT_LIB_RUNNER_CALLRUN_H

#include "Compile/Frontend.h"
#include "ProgramSupport.h"
#include "adjoint/Runner/Analysis.h"

namespace mlir::ad::runner {

/// Functions return false with the reason in `failure`.
class CallRun {
public:
  /// `failure` outlives this object.
  CallRun(Options options, const Hooks &hooks, const ProgramHost &host, Failure &failure);

  /// Compiles the program. `observer` may be null.
  bool load(std::unique_ptr<llvm::MemoryBuffer> source, CompilationObserver *observer);
  /// Takes copies of the arguments; feeds call the host.
  bool bind(llvm::ArrayRef<adrt_tensor> arguments);
  /// Reads the sources of the options.
  bool bindSources();
  /// Runs the program. `tracer` may be null.
  bool run(Tracer *tracer);

  const Options &getOptions() const { return options; }
  const Signature &getSignature() const { return program.signature; }
  /// The program that the reference interpreter executes; null on other targets.
  ModuleOp getModule() const { return program.module.get(); }
  const std::string &getNumerics() const { return report.numerics; }
  /// Of a run that is done.
  llvm::ArrayRef<adrt_tensor> getResults() const { return results; }
  bool copyResults(std::vector<ProgramResult> &copies);
  bool fail(llvm::Error error);

private:
  void connect(adrt_context &context, Tracer *tracer);
  /// The failure is about a file unless the error says otherwise.
  bool failAtFile(llvm::Error error);

  Options options;
  const Hooks &hooks;
  const ProgramHost &host;
  Failure &failure;
  std::function<bool()> interrupted;
  Report report;
  MessageRecorder recorder; // declared before the program, whose handler refers to it
  LoadedProgram program;
  Bindings bindings;
  adrt_context context;
  std::vector<adrt_tensor> results;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_CALLRUN_H
