// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// --replay: the run of a trace once more. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_REPLAY_H
#define ADJOINT_LIB_RUNNER_SESSION_REPLAY_H

#include "adjoint/Runner/Executable/Signature.h"
#include "adjoint/Runner/Options/Options.h"

namespace mlir::ad::runner {

/// Reads the program, the inputs and the options of the trace `options.replayFolder`. The target and the
/// number of threads may be given on the command line.
llvm::Error readReplay(Options &options);

/// The names of results that have other bits than in the trace. Two NaNs are equal.
llvm::Expected<std::vector<std::string>> findReplayDifferences(const Options &options,
                                                               const Signature &signature,
                                                               llvm::ArrayRef<adrt_tensor> results);
/// An error with ExitCheckFailed if a result has other bits than in the trace. Two NaNs are equal.
llvm::Error checkReplay(const Options &options, const Signature &signature,
                        llvm::ArrayRef<adrt_tensor> results);

/// A list of rewrites of the program `from`, for the same program as the file `to`.
std::string moveRewrites(llvm::StringRef rewrites, llvm::StringRef from, llvm::StringRef to);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_REPLAY_H
