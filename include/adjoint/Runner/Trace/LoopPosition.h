// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where an operation ran: the iterations of the loops around it, and what messages say about it.
#ifndef ADJOINT_RUNNER_TRACE_LOOPPOSITION_H
#define ADJOINT_RUNNER_TRACE_LOOPPOSITION_H

#include "mlir/IR/Operation.h"

#include <string>

namespace mlir::ad::runner {

/// The numbers of the current iterations, the outermost loop first. They count from 0.
using Iterations = llvm::SmallVector<int64_t, 2>;

/// Follows the notes of a run.
class LoopPosition {
public:
  void start(int64_t iteration) {
    if (iteration == 0)
      iterations.push_back(0);
    else
      iterations.back() = iteration;
  }
  void end() { iterations.pop_back(); }
  const Iterations &get() const { return iterations; }

private:
  Iterations iterations;
};

/// `3` or `3,0`; empty outside of loops.
std::string iterationText(llvm::ArrayRef<int64_t> iterations);
/// `ad.log at model.mlir:7:8 in @loss, iteration 3`.
std::string executionText(Operation *op, llvm::ArrayRef<int64_t> iterations);
/// `[2,0]`, the index of an element in row-major order.
std::string elementText(int64_t element, llvm::ArrayRef<int64_t> shape);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_LOOPPOSITION_H
