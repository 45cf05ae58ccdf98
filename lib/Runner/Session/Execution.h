// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One execution of a loaded program: binds sources, runs, repeats, writes outputs. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_EXECUTION_H
#define ADJOINT_LIB_RUNNER_SESSION_EXECUTION_H

#include "../IO/Outputs.h"
#include "../Options/Console.h"
#include "adjoint/Runner/Executable/Executable.h"
#include "adjoint/Runner/IO/Bindings.h"
#include "adjoint/Runner/IO/Report.h"
#include "adjoint/Runner/Session/Tracer.h"

namespace mlir::ad::runner {

class Execution {
public:
  Execution(const Options &options, Report &report, Console &console, std::function<bool()> interrupted,
            Clock::time_point start)
      : options(options), report(report), console(console), interrupted(std::move(interrupted)),
        start(start) {}

  /// Returns the exit code; every failure has been printed. `source` is the text of the program, if there is
  /// one; `weights` are the arguments that are stored with the program; `tracer` may be null.
  int run(Executable &executable, const Signature &signature, std::vector<Weight> weights,
          llvm::MemoryBufferRef source, Tracer *tracer = nullptr);

private:
  int runAll(Executable &executable, const Signature &signature, Bindings &bindings, Outputs &outputs,
             llvm::MemoryBufferRef source);
  /// One of the warm-up and measured runs. Returns a status of adrt.h.
  int32_t runOnce(unsigned index, Executable &executable, adrt_context &context,
                  llvm::ArrayRef<adrt_tensor> arguments, Outputs &outputs,
                  llvm::MutableArrayRef<adrt_tensor> results);
  /// An error if Ctrl-C was pressed: a program without loops and launches on a device does not poll.
  llvm::Error checkInterruptAfter(unsigned index) const;
  unsigned runCount() const { return options.warmup + options.repeat; }
  /// `seconds` is empty for a warm-up run.
  void recordRun(adrt_context &context, Executable &executable, std::optional<double> seconds);
  /// Completes the trace of a run that ended with `code`, and returns the exit code.
  int finishTrace(int32_t status, adrt_context &context, llvm::ArrayRef<adrt_tensor> results, int code);
  int32_t receive(Outputs &outputs, const char *name, llvm::ArrayRef<adrt_tensor> values, std::string &error);
  int finish(adrt_context &context, const Signature &signature, Outputs &outputs,
             llvm::ArrayRef<adrt_tensor> results);
  llvm::Error watch(adrt_context &context, Outputs &outputs, llvm::MemoryBufferRef source);
  void connect(adrt_context &context, Bindings &bindings, Outputs &outputs);
  void showReceived(const char *name, const adrt_tensor &value);

  const Options &options;
  Report &report;
  Console &console;
  std::function<bool()> interrupted;
  Clock::time_point start;
  Tracer *tracer = nullptr;
  llvm::StringMap<int64_t> received;
  int64_t sharedBefore = 0; // loops of the process that ran on more than one thread before the runs
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_EXECUTION_H
