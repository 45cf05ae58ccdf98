// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One use of the runner: binds, runs, repeats, writes. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_H
#define ADJOINT_LIB_RUNNER_SESSION_H

#include "Console.h"
#include "Frontend.h"
#include "adjoint/Runner/Outputs.h"

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
  int checkGradients(const llvm::MemoryBuffer &input, Frontend &frontend);
  int execute(LoadedProgram &program, const llvm::MemoryBuffer &input);
  int runAll(LoadedProgram &program, Bindings &bindings, Outputs &outputs, const llvm::MemoryBuffer &input);
  void connect(adrt_context &context, Bindings &bindings, Outputs &outputs);
  void showReceived(const char *name, const adrt_tensor &value);

  const Options &options;
  const Hooks &hooks;
  Report &report;
  Console &console;
  std::function<bool()> interrupted;
  Clock::time_point start;
  llvm::StringMap<int64_t> received;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_H
