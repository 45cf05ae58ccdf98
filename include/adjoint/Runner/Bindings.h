// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Connects the sources of a command line with the arguments and feeds of a program, and checks that they fit.
#ifndef ADJOINT_RUNNER_BINDINGS_H
#define ADJOINT_RUNNER_BINDINGS_H

#include "adjoint/Runner/Options.h"
#include "adjoint/Runner/Signature.h"
#include "adjoint/Runner/Source.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ad::runner {

struct Bindings {
  std::vector<Tensor> arguments;
  llvm::StringMap<std::unique_ptr<Feed>> feeds;

  void rewindFeeds();
  /// The callback of the runtime.
  int32_t feed(const char *name, const adrt_tensor &destination, std::string &error);
};

/// Every argument and feed needs a source; every name on the command line must exist. Errors carry ExitUsage
/// and name the argument, what it expects and what was found.
llvm::Expected<Bindings> bindSources(const Signature &signature, const Options &options);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_BINDINGS_H
