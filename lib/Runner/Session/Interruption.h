// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stops a compilation that its user no longer wants. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_INTERRUPTION_H
#define ADJOINT_LIB_RUNNER_SESSION_INTERRUPTION_H

#include "mlir/IR/MLIRContext.h"

#include <atomic>
#include <functional>
#include <thread>

namespace mlir::ad::runner {

class Interruption {
public:
  /// `wanted` is asked on the thread that made this object only, and not again after it said yes.
  explicit Interruption(const std::function<bool()> &wanted) : wanted(wanted) {}

  bool check() {
    if (!stopped && std::this_thread::get_id() == thread && wanted())
      stopped = true;
    return stopped;
  }

private:
  const std::function<bool()> &wanted;
  std::thread::id thread = std::this_thread::get_id();
  std::atomic<bool> stopped{false};
};

/// Skips all passes in a context after an interruption, for as long as this object lives. A pass manager
/// cannot be told to stop, and a pass that fails has to say why.
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

#endif // ADJOINT_LIB_RUNNER_SESSION_INTERRUPTION_H
