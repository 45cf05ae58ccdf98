// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The content of --report: times of stages, passes, kernels and executions.
#ifndef ADJOINT_RUNNER_IO_REPORT_H
#define ADJOINT_RUNNER_IO_REPORT_H

#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Runtime/Sim/SimDevice.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class PassInstrumentation;
} // namespace mlir

namespace mlir::ad::runner {

using Clock = std::chrono::steady_clock;

/// The seconds of stages, in the order of their first ends.
class StageTimes {
public:
  struct Stage {
    std::string name;
    double seconds = 0;
    int64_t calls = 0;
  };

  void add(llvm::StringRef name, double seconds);
  llvm::ArrayRef<Stage> getStages() const { return stages; }

private:
  std::vector<Stage> stages;
};

/// Adds the time of its lifetime to a stage.
class StageScope {
public:
  StageScope(StageTimes &times, llvm::StringRef name) : times(times), name(name.str()), start(Clock::now()) {}
  ~StageScope() { times.add(name, std::chrono::duration<double>(Clock::now() - start).count()); }

private:
  StageTimes &times;
  std::string name;
  Clock::time_point start;
};

/// Adds the time of each pass to `times`, under its flag. Times on several threads are summed.
std::unique_ptr<PassInstrumentation> createPassTimer(StageTimes &times);

struct Report {
  std::string file, entry, target, numerics, cpu, cache;
  bool hasCast = false; ///< the optimised program has an ad.cast
  unsigned threads = 1, warmup = 0;
  int64_t sharedLoops = 0; ///< loops of all runs that ran on more than one thread
  StageTimes stages, passes;
  std::vector<double> runs;  ///< seconds of each measured execution
  double startupSeconds = 0; ///< from the start of main to the first call of the entry
  int64_t arenaBytes = 0;
  std::vector<adrt::KernelTime> kernels; ///< of the measured executions
  std::vector<std::string> kernelNames;
  std::vector<adrt::KernelTraffic> traffic; ///< by number of the kernel, of all executions
  adrt::GraphCounts graphs;                 ///< of all executions
  int exitCode = 0;
};

/// Prints a line for each kernel and for each kind of access.
void printTraffic(llvm::raw_ostream &os, llvm::ArrayRef<adrt::KernelTraffic> traffic);
double median(std::vector<double> values);
llvm::json::Value toJSON(const Report &report);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_IO_REPORT_H
