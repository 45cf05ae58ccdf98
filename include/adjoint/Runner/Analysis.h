// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs of a program that explain its numbers: with a trace, repeated from a trace, with the origins of NaNs
// and infinities, with the rounding errors of each operation. Like Program.h, this header includes neither
// LLVM nor MLIR, and the functions print nothing.
#ifndef ADJOINT_RUNNER_ANALYSIS_H
#define ADJOINT_RUNNER_ANALYSIS_H

#include "adjoint/Runner/Program.h"

namespace mlir::ad::runner {

/// A program and one call of it. Each function below compiles the program and runs it once.
struct ProgramCall {
  std::string_view source, name; ///< as for Program::compile
  ProgramOptions options;
  std::vector<adrt_tensor> arguments; ///< of the types of the interface; donated ones are not overwritten
  ProgramHost host;
};

struct TraceSettings {
  std::string folder;  ///< a new one
  std::string tensors; ///< names and operations whose tensors are kept, separated by commas, or `all`
};

/// Writes a trace of the run (docs/tracing.md). False, with the reason in `failure`, when the program does
/// not compile, the run fails or the trace cannot be written; the trace of a run that failed has its values
/// until then. `warning` says what is strange about the trace, and is empty if nothing is.
bool traceRun(const ProgramCall &call, const TraceSettings &settings, const Hooks &hooks,
              std::vector<ProgramResult> &results, std::string &warning, Failure &failure);

struct ReplaySettings {
  std::string folder;              ///< of a trace
  std::string target;              ///< empty: that of the trace
  std::optional<unsigned> threads; ///< empty: $ADJOINT_NUM_THREADS, or 0
};

struct Replay {
  ProgramInterface interface;
  std::string target, numerics;
  std::vector<ProgramResult> results;
  std::vector<std::string> different; ///< names of results with other bits than in the trace, NaNs aside
};

/// Repeats the run of a trace with its inputs and options. Feeds come from the trace, not from `host`.
bool replayRun(const ReplaySettings &settings, const Hooks &hooks, const ProgramHost &host, Replay &replay,
               Failure &failure);

/// What an examination found: the lines and the JSON that `ad-diff` writes.
struct Analysis {
  std::string text, json;
  std::vector<std::string> warnings;
};

/// Finds the operations that make NaNs and infinities, as `ad-diff nan` does, in a run on the target of the
/// call. If the run fails, the analysis is about the operations before; it has no JSON if nothing ran.
bool findNonFinites(const ProgramCall &call, const Hooks &hooks, Analysis &analysis, Failure &failure);

/// Measures the rounding errors of each operation, as `ad-diff shadow` does, in a run on the reference
/// interpreter: against f64, or of `samples` runs with stochastic rounding if there are any. `bound` is the
/// text of --bound, or empty.
bool measureErrors(const ProgramCall &call, unsigned samples, uint64_t seed, const std::string &bound,
                   const Hooks &hooks, Analysis &analysis, Failure &failure);

/// Searches the operations that must compute in f32 for a bound, as `ad-diff precision` does, by runs on the
/// reference interpreter. `bound` is the text of --bound. The host gives its feeds once, and receives
/// nothing. The JSON also has the text of the program that was found.
bool searchPrecision(const ProgramCall &call, const std::string &policy, const std::string &bound,
                     const Hooks &hooks, Analysis &analysis, Failure &failure);

/// Compares the values of two traces, as `ad-diff runs` does. `bound` is the text of --bound, or empty.
bool compareTraces(const std::string &left, const std::string &right, const std::string &bound,
                   Analysis &analysis, Failure &failure);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_ANALYSIS_H
