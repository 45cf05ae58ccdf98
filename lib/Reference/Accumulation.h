// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums and other reductions in the order that is written on an operation.

#ifndef ADJOINT_LIB_REFERENCE_ACCUMULATION_H
#define ADJOINT_LIB_REFERENCE_ACCUMULATION_H

#include "Movement.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Numerics/Order.h"

namespace mlir::ad::reference {

/// The order written on the operation, else its canonical one.
OrderAttr orderOf(NumericsOpInterface op);

/// Accumulates the indices 0 … count-1 by step(accumulator, index), and joins partial results by join(left,
/// right).
template <class T, class Step, class Join>
T accumulate(OrderAttr order, int64_t count, T identity, Step step, Join join) {
  if (order.hasLanes())
    return numerics::laneTree(count, identity, step, join, order.getLanes(), order.getPartLength());
  return numerics::blockChain(count, identity, step, join, order.getPartLength());
}

/// All partial results of a running reduction: one chain if the order is null or not of nested chains.
template <class T, class Join>
std::vector<T> accumulateRunning(OrderAttr order, const std::vector<T> &values, T identity, Join join) {
  std::vector<int64_t> lengths;
  if (order && order.hasNestedChains())
    lengths = {order.getPartLength(), order.getTileLength() / order.getPartLength()};
  return numerics::nestedChains(values, identity, lengths, join);
}

enum class Reduction { Sum, Product, Maximum, Minimum };

/// A tensor of an accumulator type reduced along one axis, which stays with size 1.
Tensor reduce(Reduction kind, const Tensor &x, int64_t axis, OrderAttr order);
/// All partial results along the last axis of such a tensor.
Tensor reduceRunning(Reduction kind, const Tensor &rows, OrderAttr order);
/// A tensor reduced along any number of axes, from the last to the first. Where there are several, the lanes
/// of an order belong to the innermost axis of the tensor, and the others are reduced in canonical blocks.
Tensor reduce(Reduction kind, const Tensor &x, ArrayRef<int64_t> axes, OrderAttr order);
/// The sum divided once by the number of elements.
Tensor mean(const Tensor &x, ArrayRef<int64_t> axes, OrderAttr order);

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_ACCUMULATION_H
