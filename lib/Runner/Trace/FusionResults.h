// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The results of fusions in the order in which a compiled program sends them, and an interpretation of the
// program that takes them over. Internal to traces.
#ifndef ADJOINT_LIB_RUNNER_TRACE_FUSIONRESULTS_H
#define ADJOINT_LIB_RUNNER_TRACE_FUSIONRESULTS_H

#include "adjoint/Reference/Observer.h"
#include "llvm/Support/Error.h"

#include <cstdio>
#include <string>

namespace mlir::ad::runner {

/// A queue of tensors in a file without a name, which ends with the process.
class TensorQueue {
public:
  TensorQueue() = default;
  ~TensorQueue();
  TensorQueue(const TensorQueue &) = delete;
  TensorQueue &operator=(const TensorQueue &) = delete;

  /// Makes the file in `folder`.
  llvm::Error open(llvm::StringRef folder);
  llvm::Error push(const adrt_tensor &tensor);
  /// From now on, `pop` reads from the begin.
  llvm::Error rewind();
  /// Nothing once all tensors have been read.
  std::optional<reference::Tensor> pop();

private:
  std::FILE *file = nullptr;
};

/// Gives each fusion the results that the compiled program had, in the same order, and shows the program to
/// another observer. Stops the run with ADRT_INTERRUPTED when there are no more results.
class FusionResults final : public reference::Observer {
public:
  FusionResults(TensorQueue &queue, reference::Observer &next) : queue(queue), next(next) {}

  int32_t replaceResults(Operation *op, MutableArrayRef<reference::Tensor> results) override;
  int32_t ran(Operation *op, ArrayRef<reference::Tensor> operands,
              ArrayRef<reference::Tensor> results) override {
    return next.ran(op, operands, results);
  }

  bool hasEnded() const { return ended; }
  /// How many results have other bits than the interpreter computes from the same operands.
  uint64_t countDifferent() const { return different; }
  /// Whether a result had another type or size than the interpreter's.
  bool hasMismatch() const { return mismatch; }

private:
  TensorQueue &queue;
  reference::Observer &next;
  bool ended = false, mismatch = false;
  uint64_t different = 0;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_TRACE_FUSIONRESULTS_H
