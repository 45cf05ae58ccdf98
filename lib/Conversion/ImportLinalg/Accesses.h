// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors over the points of a loop nest. The tensor that stands for a scalar of a body is aligned from the
// right with the loops, as NumPy aligns axes: along a loop on which the scalar does not depend its size is 1,
// and outer loops of this kind have no axis. So operations of `ad` broadcast where a body combines values of
// different loops.

#ifndef ADJOINT_LIB_CONVERSION_IMPORTLINALG_ACCESSES_H
#define ADJOINT_LIB_CONVERSION_IMPORTLINALG_ACCESSES_H

#include "TensorCode.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::ad {
/// The sizes of loops. A loop of the program around the tensors has one iteration here, `iterations` of which
/// is its number.
class LoopSizes {
public:
  LoopSizes(const SmallVectorImpl<OpFoldResult> &sizes, ArrayRef<Value> iterations = {})
      : sizes(sizes), iterations(iterations) {}

  size_t size() const { return sizes.size(); }
  OpFoldResult operator[](unsigned loop) const { return sizes[loop]; }
  /// An index, or null for a loop over the points of tensors.
  Value iterationAround(unsigned loop) const { return iterations.empty() ? Value() : iterations[loop]; }

private:
  ArrayRef<OpFoldResult> sizes;
  ArrayRef<Value> iterations;
};

/// A tensor with one axis for each of `loops`, ascending, aligned with all loops.
Value alignWithLoops(TensorCode code, Value tensor, ArrayRef<unsigned> loops, unsigned loopCount);

/// The same of loops in any order.
Value alignInAnyOrder(TensorCode code, Value tensor, ArrayRef<unsigned> loops, unsigned loopCount);

/// The loops along which an aligned tensor varies, ascending. Its other axes have size 1.
SmallVector<unsigned> loopsOf(Value aligned, unsigned loopCount);

/// An aligned tensor with one axis, of the size of the loop, for each of `loops` and no other: it is
/// broadcast along those on which it does not depend, and depends on no other.
Value spreadOverLoops(TensorCode code, Value aligned, ArrayRef<unsigned> loops, LoopSizes sizes);

/// The number of a loop's iteration, aligned.
Value iterationOf(TensorCode code, unsigned loop, LoopSizes sizes);

/// An index of a tensor: the iteration of a loop, which runs over the whole axis, or an aligned tensor of
/// i64.
struct AxisIndex {
  std::optional<unsigned> loop;
  Value computed;
};

/// The elements of `tensor` at the indices, aligned.
Value readAt(TensorCode code, Value tensor, ArrayRef<AxisIndex> indices, LoopSizes sizes,
             Outside outside = Outside::error);

/// The elements that `map` reads, aligned. A `tensor` that is a scalar has one for all points.
Value readByMap(TensorCode code, Value tensor, AffineMap map, LoopSizes sizes);

/// An index expression without symbols, aligned. `operands` stand for its dimensions.
Value evaluateExpr(TensorCode code, AffineExpr expr, ValueRange operands);
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_IMPORTLINALG_ACCESSES_H
