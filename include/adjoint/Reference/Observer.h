// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What a caller sees of a run of the reference interpreter: every operation that ran, with its values.

#ifndef ADJOINT_REFERENCE_OBSERVER_H
#define ADJOINT_REFERENCE_OBSERVER_H

#include "adjoint/Reference/Tensor.h"
#include "mlir/IR/Operation.h"

namespace mlir::ad::reference {

class Observer {
public:
  virtual ~Observer() = default;

  /// `op` has run, and its results may be replaced by tensors of the same types and sizes: later operations
  /// read those. Comes before `ran`.
  virtual int32_t replaceResults(Operation *op, MutableArrayRef<Tensor> results) { return ADRT_OK; }

  /// `op` has run. Operations of its regions and of functions that it calls come before it, once for each
  /// time that they ran; terminators do not come. The tensors are those of `op`'s operands and results, in
  /// order; whoever keeps one shares its elements. A status other than ADRT_OK ends the run with it.
  virtual int32_t ran(Operation *op, ArrayRef<Tensor> operands, ArrayRef<Tensor> results) = 0;

  /// An iteration of `loop` starts, which counts from 0. Until the next one, what runs belongs to it.
  virtual void iterationStarts(Operation *loop, int64_t iteration) {}
  /// The last iteration of the innermost loop has ended.
  virtual void loopEnded(Operation *loop) {}

  /// The entry returns these results. Comes last.
  virtual void returned(ArrayRef<Tensor> results) {}
};

} // namespace mlir::ad::reference

#endif // ADJOINT_REFERENCE_OBSERVER_H
