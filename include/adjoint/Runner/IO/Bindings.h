// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Binds the sources of a command line to the arguments and feeds of a program, and checks their types.
#ifndef ADJOINT_RUNNER_IO_BINDINGS_H
#define ADJOINT_RUNNER_IO_BINDINGS_H

#include "adjoint/Runner/Executable/Signature.h"
#include "adjoint/Runner/IO/Source.h"
#include "adjoint/Runner/Options/Options.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ad::runner {

struct Bindings {
  std::vector<Tensor> arguments;
  llvm::StringMap<std::unique_ptr<Feed>> feeds;
  Warnings warnings; ///< about files of sources

  void rewindFeeds();
  /// The callback of the runtime.
  int32_t feed(const char *name, const adrt_tensor &destination, std::string &error);
};

/// The value of an argument that is stored with the program.
struct Weight {
  std::string name;
  Tensor value;
};

/// Every feed needs a source, and every argument a source or a weight; a source overrides a weight. Every
/// name on the command line must exist. Errors carry ExitUsage and name the argument, what it expects and
/// what was found.
llvm::Expected<Bindings> bindSources(const Signature &signature, const Options &options,
                                     std::vector<Weight> weights = {});

/// The arguments that have a source, to be stored with the program.
llvm::Expected<std::vector<Weight>> bindWeights(const Signature &signature, const Options &options,
                                                Warnings &warnings);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_IO_BINDINGS_H
