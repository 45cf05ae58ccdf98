// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions of tensors of an accumulator type.

#include "Accumulation.h"
#include "Scalars/Arithmetic.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

OrderAttr mlir::ad::reference::orderOf(NumericsOpInterface op) {
  OrderAttr written = op.getSummationOrder();
  return written ? written : op.getCanonicalOrder();
}

template <class T> static T identityOf(Reduction kind) {
  using Limits = std::numeric_limits<T>;
  switch (kind) {
  case Reduction::Sum:
    return T(0);
  case Reduction::Product:
    return T(1);
  case Reduction::Maximum:
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  case Reduction::Minimum:
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  return T(0);
}

template <class T> static T combine(Reduction kind, T a, T b) {
  switch (kind) {
  case Reduction::Sum:
    return add(a, b);
  case Reduction::Product:
    return multiply(a, b);
  case Reduction::Maximum:
    return maximum(a, b);
  case Reduction::Minimum:
    return minimum(a, b);
  }
  return a;
}

Tensor mlir::ad::reference::reduce(Reduction kind, const Tensor &x, int64_t axis, OrderAttr order) {
  // With the axis last, each row is contiguous.
  Shape permutation, shape(x.getShape());
  for (int64_t other = 0; other < x.getRank(); ++other)
    if (other != axis)
      permutation.push_back(other);
  permutation.push_back(axis);
  Tensor rows = transpose(x, permutation);
  int64_t length = x.getDim(axis);
  shape[axis] = 1;
  Tensor result(x.getType(), shape);
  withNumber(x.getType(), [&](auto tag) {
    using T = decltype(tag);
    auto join = [&](T a, T b) { return combine(kind, a, b); };
    const T *row = rows.data<T>();
    for (int64_t i = 0, n = result.getNumElements(); i < n; ++i, row += length)
      result.data<T>()[i] = accumulate(
          order, length, identityOf<T>(kind),
          [&](T sum, int64_t index) { return combine(kind, sum, row[index]); }, join);
  });
  return result;
}

Tensor mlir::ad::reference::reduceRunning(Reduction kind, const Tensor &rows, OrderAttr order) {
  Tensor result(rows.getType(), rows.getShape());
  int64_t length = rows.getDim(rows.getRank() - 1);
  withNumber(rows.getType(), [&](auto tag) {
    using T = decltype(tag);
    for (int64_t first = 0, n = rows.getNumElements(); first < n; first += length) {
      std::vector<T> row(rows.data<T>() + first, rows.data<T>() + first + length);
      std::vector<T> running = accumulateRunning(order, row, identityOf<T>(kind),
                                                 [&](T left, T right) { return combine(kind, left, right); });
      llvm::copy(running, result.data<T>() + first);
    }
  });
  return result;
}

Tensor mlir::ad::reference::reduce(Reduction kind, const Tensor &x, ArrayRef<int64_t> axes, OrderAttr order) {
  Shape descending(axes);
  llvm::sort(descending, std::greater<>());
  OrderAttr outer = order.hasLanes() ? OrderAttr::canonicalBlocks(order.getContext()) : order;
  Tensor result = x;
  for (int64_t axis : descending) {
    bool written = axes.size() == 1 || axis == x.getRank() - 1;
    result = reduce(kind, result, axis, written ? order : outer);
  }
  return result;
}

Tensor mlir::ad::reference::mean(const Tensor &x, ArrayRef<int64_t> axes, OrderAttr order) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= x.getDim(axis);
  Tensor sum = reduce(Reduction::Sum, x, axes, order);
  return withFloat(sum.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(sum, [&](T total) { return total / static_cast<T>(count); });
  });
}
