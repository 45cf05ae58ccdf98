// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of reductions over ascending indices, one step after the other. A target may have instructions that
// make a step.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_CHAINSTEPS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_CHAINSTEPS_H

#include "../Values/ValueSource.h"
#include "ReductionLoops.h"

namespace mlir::ad::codegen {

class ChainSteps : public KernelComponent {
public:
  ChainSteps(KernelContext &context, ValueSource &values, LaneValues &laneValues, ReductionLoops &loops)
      : KernelComponent(context), values(values), laneValues(laneValues), reductionLoops(loops) {}
  virtual ~ChainSteps() = default;

  /// One step of the chain of one position: `accumulators` are replaced by the next ones.
  LogicalResult step(linalg::GenericOp generic, ArrayRef<Index> loops, Value k,
                     MutableArrayRef<Value> accumulators);
  /// Steps [lower, upper) of all positions in one loop, or in a loop over the runs of the last of several
  /// reduced loops. `start` has the accumulators of the first position, then those of the next.
  FailureOr<SmallVector<Value>> chain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                      ArrayRef<Value> start, Value lower, Value upper);

protected:
  /// The next accumulators of one step.
  virtual FailureOr<SmallVector<Value>> accumulate(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                   ValueRange accumulators) {
    return values.applyBody(generic, loops, accumulators);
  }
  /// Called at the end of an iteration of a chain.
  virtual void afterStep(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, Value k) {}

  ValueSource &values;
  LaneValues &laneValues;
  ReductionLoops &reductionLoops;

private:
  /// Sets the reduced loops of a position.
  using SetLoops = llvm::function_ref<void(SmallVectorImpl<Index> &loops)>;

  FailureOr<SmallVector<Value>> chainOfRuns(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                            ArrayRef<Value> start, Value lower, Value upper, Value length);
  LogicalResult stepAll(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, SetLoops set,
                        MutableArrayRef<Value> accumulators);
  LogicalResult stepAt(linalg::GenericOp generic, ArrayRef<Index> loops, MutableArrayRef<Value> accumulators);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_CHAINSTEPS_H
