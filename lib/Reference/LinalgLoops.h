// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The iterations of a linalg.generic: the sizes of its loops, the elements that an iteration accesses, and
// its body.

#ifndef ADJOINT_LIB_REFERENCE_LINALGLOOPS_H
#define ADJOINT_LIB_REFERENCE_LINALGLOOPS_H

#include "Interpreter.h"
#include "Movement.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::reference {

class LinalgLoops {
public:
  LinalgLoops(linalg::GenericOp op, Frame &frame) : op(op), frame(frame) {}

  /// Finds the sizes of the loops. Fails if operands disagree about one, or an index map leaves its operand.
  int32_t bind();
  ArrayRef<int64_t> getExtents() const { return extents; }

  /// The element of the operand that the iteration accesses, as a scalar.
  int32_t read(OpOperand &operand, const Tensor &tensor, ArrayRef<int64_t> loops, Tensor &element);
  int32_t write(OpOperand &operand, Tensor &tensor, ArrayRef<int64_t> loops, const Tensor &element);
  /// Runs the body of one iteration; `accumulators` are the block arguments of the outs.
  int32_t runBody(ArrayRef<int64_t> loops, ArrayRef<Tensor> accumulators, SmallVectorImpl<Tensor> &yielded);

private:
  int32_t bindAxis(OpOperand &operand, int64_t axis, AffineExpr index);
  int32_t checkInside(OpOperand &operand, int64_t axis, AffineExpr index);
  int32_t offsetOf(OpOperand &operand, const Tensor &tensor, ArrayRef<int64_t> loops, int64_t &offset);

  linalg::GenericOp op;
  Frame &frame;
  Shape extents;
};

/// Calls back with all indices below the extents, the last one fastest, until the status is not ADRT_OK.
int32_t forEachIndex(ArrayRef<int64_t> extents, llvm::function_ref<int32_t(ArrayRef<int64_t>)> callback);

/// The outs of the operation, with elements of their own.
SmallVector<Tensor> copiesOfOuts(linalg::GenericOp op, Frame &frame);

/// A reduction whose partial results can be joined, in the order of the kernel.
int32_t runJoinedReduction(linalg::GenericOp op, Frame &frame, LinalgLoops &loops, Tensor &result);
/// Whether the body is accumulator ∘ value, where ∘ joins partial results (docs/numerics.md).
bool joinsPartialResults(linalg::GenericOp op);

/// A running reduction in the nested chains of the kernel's order.
int32_t runRunningReduction(linalg::GenericOp op, Frame &frame, LinalgLoops &loops,
                            MutableArrayRef<Tensor> results);
/// Whether the operation is one.
bool runsInNestedChains(linalg::GenericOp op);

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_LINALGLOOPS_H
