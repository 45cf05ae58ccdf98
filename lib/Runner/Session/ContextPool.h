// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contexts of a program that is called from several threads. Each run has a context of its own; later runs
// reuse its memory. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_CONTEXTPOOL_H
#define ADJOINT_LIB_RUNNER_SESSION_CONTEXTPOOL_H

#include "adjoint/Runtime/Host/Context.h"

namespace mlir::ad::runner {

class ContextPool {
public:
  explicit ContextPool(unsigned threads) : threads(threads) {}

  /// A context without callbacks.
  std::unique_ptr<adrt_context> take() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<adrt_context> context = std::move(idle.back());
        idle.pop_back();
        return context;
      }
    }
    auto context = std::make_unique<adrt_context>();
    context->setThreads(threads);
    return context;
  }

  void giveBack(std::unique_ptr<adrt_context> context) {
    context->feed = nullptr;
    context->receive = nullptr;
    context->interrupted = nullptr;
    context->results.outputs.clear();
    context->heap = nullptr;
    std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(std::move(context));
  }

private:
  unsigned threads;
  std::mutex mutex;
  std::vector<std::unique_ptr<adrt_context>> idle;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_CONTEXTPOOL_H
