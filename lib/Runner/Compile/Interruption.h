// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stops a compilation that the user has interrupted. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_COMPILE_INTERRUPTION_H
#define ADJOINT_LIB_RUNNER_COMPILE_INTERRUPTION_H

#include "mlir/IR/MLIRContext.h"

#include <atomic>
#include <functional>
#include <thread>

namespace mlir::ad::runner {

class Interruption {
public:
  /// `requested` is called on the thread that made this object only, and not again after it has returned
  /// true.
  explicit Interruption(const std::function<bool()> &requested) : requested(requested) {}

  bool check() {
    if (!stopped && std::this_thread::get_id() == thread && requested())
      stopped = true;
    return stopped;
  }

private:
  const std::function<bool()> &requested;
  std::thread::id thread = std::this_thread::get_id();
  std::atomic<bool> stopped{false};
};

/// Skips all passes in a context after an interruption, during the lifetime of this object. A pass manager
/// has no way to stop, and a pass that failed would have to emit an error.
class PassSkipper {
public:
  PassSkipper(mlir::MLIRContext *context, Interruption &interruption);
  ~PassSkipper() { context->registerActionHandler(nullptr); }
  PassSkipper(const PassSkipper &) = delete;
  PassSkipper &operator=(const PassSkipper &) = delete;

private:
  mlir::MLIRContext *context;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_COMPILE_INTERRUPTION_H
