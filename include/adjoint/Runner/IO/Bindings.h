// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Connects the sources of a command line with the arguments and feeds of a program, and checks that they fit.
#ifndef ADJOINT_RUNNER_IO_BINDINGS_H
#define ADJOINT_RUNNER_IO_BINDINGS_H

#include "adjoint/Runner/IO/Source.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runner/Session/Signature.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ad::runner {

struct Bindings {
  std::vector<Tensor> arguments;
  llvm::StringMap<std::unique_ptr<Feed>> feeds;

  void rewindFeeds();
  /// The callback of the runtime.
  int32_t feed(const char *name, const adrt_tensor &destination, std::string &error);
};

/// The value of an argument that came with the program.
struct Weight {
  std::string name;
  Tensor value;
};

/// Every feed needs a source, and every argument one or a weight, which a source goes before; every name on
/// the command line must exist. Errors carry ExitUsage and name the argument, what it expects and what was
/// found.
llvm::Expected<Bindings> bindSources(const Signature &signature, const Options &options,
                                     std::vector<Weight> weights = {});

/// The arguments that have a source, to be kept with the program.
llvm::Expected<std::vector<Weight>> bindWeights(const Signature &signature, const Options &options);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_IO_BINDINGS_H
