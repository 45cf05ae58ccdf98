// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An interpretation of a program that takes over the results of fusions from a compiled one. Internal to
// traces.
#ifndef ADJOINT_LIB_RUNNER_TRACE_FUSIONRESULTS_H
#define ADJOINT_LIB_RUNNER_TRACE_FUSIONRESULTS_H

#include "TensorQueue.h"
#include "adjoint/Reference/Observer.h"

namespace mlir::ad::runner {

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
  void iterationStarts(Operation *loop, int64_t iteration) override { next.iterationStarts(loop, iteration); }
  void loopEnded(Operation *loop) override { next.loopEnded(loop); }
  void returned(ArrayRef<reference::Tensor> results) override { next.returned(results); }

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
