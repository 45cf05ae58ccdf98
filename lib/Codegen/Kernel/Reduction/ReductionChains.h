// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of reductions after everything that their loop does not change has been computed. A target may run
// the steps in another loop than ChainSteps does.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONCHAINS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONCHAINS_H

#include "../Values/Hoisting.h"
#include "ChainSteps.h"

namespace mlir::ad::codegen {

class ReductionChains : public KernelComponent {
public:
  ReductionChains(KernelContext &context, Hoisting &hoisting, ChainSteps &steps)
      : KernelComponent(context), hoisting(hoisting), steps(steps) {}
  virtual ~ReductionChains() = default;

  /// acc = body(k, acc) for ascending k, all positions in one loop. `start` has the accumulators of the first
  /// position, then those of the next.
  FailureOr<SmallVector<Value>> chain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                      ArrayRef<Value> start, Value lower, Value upper) {
    if (failed(hoisting.hoistReduced(generic, loops)))
      return failure();
    return hoistedChain(generic, loops, start, lower, upper);
  }

protected:
  virtual FailureOr<SmallVector<Value>> hoistedChain(linalg::GenericOp generic,
                                                     ArrayRef<SmallVector<Index>> loops,
                                                     ArrayRef<Value> start, Value lower, Value upper) {
    return steps.chain(generic, loops, start, lower, upper);
  }

  Hoisting &hoisting;
  ChainSteps &steps;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_REDUCTIONCHAINS_H
