// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The observer of a compilation: the console of ad-runner, or a program that embeds the runner. Internal to
// the runner.
#ifndef ADJOINT_LIB_RUNNER_IO_LISTENER_H
#define ADJOINT_LIB_RUNNER_IO_LISTENER_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace mlir::ad::runner {

class Listener {
public:
  virtual ~Listener() = default;
  virtual void progress(const llvm::Twine &text) {}
  /// An option with its value, in the syntax of the user.
  virtual std::string optionText(llvm::StringRef name, llvm::StringRef value) const {
    return ("--" + name + " " + value).str();
  }
  virtual void warn(const llvm::Twine &message) = 0;
  /// Handles the diagnostics of `context`, whose files are in `sources`, during the lifetime of the returned
  /// object.
  virtual std::shared_ptr<void> watch(llvm::SourceMgr &sources, mlir::MLIRContext *context) = 0;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_IO_LISTENER_H
