// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One use of a loaded program: binds, runs, repeats, writes. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_EXECUTION_H
#define ADJOINT_LIB_RUNNER_SESSION_EXECUTION_H

#include "../Options/Console.h"
#include "adjoint/Runner/IO/Bindings.h"
#include "adjoint/Runner/IO/Outputs.h"
#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Runner/Session/Executable.h"

namespace mlir::ad::runner {

class Execution {
public:
  Execution(const Options &options, Report &report, Console &console, std::function<bool()> interrupted,
            Clock::time_point start)
      : options(options), report(report), console(console), interrupted(std::move(interrupted)),
        start(start) {}

  /// Returns the exit code; every failure has been printed. `source` is the program's text, where there is
  /// one; `weights` are arguments that came with the program.
  int run(Executable &executable, const Signature &signature, std::vector<Weight> weights,
          llvm::MemoryBufferRef source);

private:
  int runAll(Executable &executable, const Signature &signature, Bindings &bindings, Outputs &outputs,
             llvm::MemoryBufferRef source);
  /// `seconds` is null for a run that does not count.
  void recordRun(adrt_context &context, Executable &executable, std::optional<double> seconds);
  int finish(adrt_context &context, Outputs &outputs, llvm::ArrayRef<adrt_tensor> results);
  void watch(adrt_context &context, Outputs &outputs, llvm::MemoryBufferRef source);
  /// Prepares the context for --bench.
  static void measure(adrt_context &context, const Signature &signature);
  void connect(adrt_context &context, Bindings &bindings, Outputs &outputs);
  void showReceived(const char *name, const adrt_tensor &value);

  const Options &options;
  Report &report;
  Console &console;
  std::function<bool()> interrupted;
  Clock::time_point start;
  llvm::StringMap<int64_t> received;
  int64_t sharedBefore = 0; // loops of the process that were shared before the runs
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_EXECUTION_H
