// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One run of ad-runner: loads a program, and runs it, checks its gradients or writes it. Internal to the
// runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_SESSION_H
#define ADJOINT_LIB_RUNNER_SESSION_SESSION_H

#include "../Compile/Frontend.h"
#include "../Options/Console.h"

namespace mlir::ad::runner {

class Session {
public:
  Session(const Options &options, const Hooks &hooks, Report &report, Console &console,
          std::function<bool()> interrupted, Clock::time_point start)
      : options(options), hooks(hooks), report(report), console(console), interrupted(std::move(interrupted)),
        start(start) {}

  /// Returns the exit code; every failure has been printed.
  int run();

private:
  /// Makes the tracer of --trace.
  llvm::Error openTrace(const llvm::MemoryBuffer &input, std::unique_ptr<Tracer> &tracer);
  int emit(const llvm::MemoryBuffer &input, Frontend &frontend);
  int checkGradients(const llvm::MemoryBuffer &input, Frontend &frontend);

  const Options &options;
  const Hooks &hooks;
  Report &report;
  Console &console;
  std::function<bool()> interrupted;
  Clock::time_point start;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_SESSION_H
