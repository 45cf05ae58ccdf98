// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions, running reductions, argmax and argmin.

#include "Accumulation.h"
#include "Interpreter.h"
#include "Scalars/Arithmetic.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

static ElementType elementOf(Value value) { return *elementTypeOf(value.getType()); }
static Tensor accumulatorOf(const Tensor &x) { return convert(x, reference::accumulatorType(x.getType())); }

/// The shape without the axes.
static Shape without(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  Shape result;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      result.push_back(size);
  return result;
}

/// Rounds a reduced tensor once and drops the axes unless they are kept.
template <class OpT> static int32_t finish(OpT op, Frame &frame, const Tensor &reduced) {
  Tensor result = convert(reduced, elementOf(op.getResult()));
  if (!op.getKeepDims())
    result = result.reshaped(without(result.getShape(), op.getAxes()));
  return frame.set(op.getResult(), result);
}

/// Without an empty axis there may be more elements than before.
static int32_t checkReduced(Operation *op, Frame &frame, const Tensor &input, ArrayRef<int64_t> axes) {
  return frame.checkMemory(op, ElementType::F64, without(input.getShape(), axes));
}

/// In the type in which elements are combined. Largest and smallest elements of i8 are i8: nothing overflows,
/// and the value of an empty axis is that of i8.
template <Reduction kind> static Tensor combinedForm(const Tensor &input) {
  bool sums = kind == Reduction::Sum || kind == Reduction::Product;
  return sums ? accumulatorOf(input) : widen(input);
}

template <class OpT, Reduction kind> static int32_t runReduce(OpT op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  if (int32_t status = checkReduced(op, frame, input, op.getAxes()))
    return status;
  return finish(op, frame, reduce(kind, combinedForm<kind>(input), op.getAxes(), orderOf(op)));
}

static int32_t runReduceMean(ReduceMeanOp op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  if (int32_t status = checkReduced(op, frame, input, op.getAxes()))
    return status;
  return finish(op, frame, mean(accumulatorOf(input), op.getAxes(), orderOf(op)));
}

//===- sum_to_shape ----------------------------------------------------===//

/// Sums where a broadcast from `shape` to the shape of `x` repeats, from the last axis to the first. Lanes
/// belong to the innermost axis.
static Tensor sumRepeated(Tensor x, ArrayRef<int64_t> shape, OrderAttr order) {
  int64_t rank = x.getRank(), leading = rank - static_cast<int64_t>(shape.size());
  OrderAttr outer = order.hasLanes() ? OrderAttr::canonicalBlocks(order.getContext()) : order;
  for (int64_t axis = rank; axis-- > 0;)
    if (axis < leading || (shape[axis - leading] == 1 && x.getDim(axis) != 1))
      x = reduce(Reduction::Sum, x, axis, axis == rank - 1 ? order : outer);
  return x.reshaped(shape);
}

static int32_t runSumToShape(SumToShapeOp op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  Shape shape;
  if (int32_t status =
          frame.shape(op, cast<RankedTensorType>(op.getResult().getType()), op.getSizes(), shape))
    return status;
  int64_t leading = input.getRank() - static_cast<int64_t>(shape.size());
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != 1 && size != input.getDim(leading + axis))
      return frame.fail(op, ADRT_FAIL_BROADCAST,
                        {leading + static_cast<int64_t>(axis), size, input.getDim(leading + axis)});
  Tensor sum = sumRepeated(accumulatorOf(input), shape, orderOf(op));
  return frame.set(op.getResult(), convert(sum, elementOf(op.getResult())));
}

//===- Along one axis, element by element ------------------------------===//

static Shape axisLast(int64_t rank, int64_t axis) {
  Shape permutation;
  for (int64_t other = 0; other < rank; ++other)
    if (other != axis)
      permutation.push_back(other);
  permutation.push_back(axis);
  return permutation;
}

static Shape inverse(ArrayRef<int64_t> permutation) {
  Shape result(permutation.size());
  for (auto [position, axis] : llvm::enumerate(permutation))
    result[axis] = static_cast<int64_t>(position);
  return result;
}

template <class OpT, Reduction kind> static int32_t runRunning(OpT op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  Shape permutation = axisLast(input.getRank(), op.getAxis());
  Tensor rows = transpose(combinedForm<kind>(input), permutation);
  Tensor steps = reduceRunning(kind, rows, orderOf(op));
  return frame.set(op.getResult(), convert(transpose(steps, inverse(permutation)), input.getType()));
}

/// Whether the first value replaces the best one: NaN first, then the order in which -0 < +0.
template <class T> static bool beats(T a, T best, bool largest) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(best) || std::isnan(a))
      return !std::isnan(best);
    if (a == best)
      return std::signbit(largest ? best : a) && !std::signbit(largest ? a : best);
  }
  return largest ? a > best : a < best;
}

static int32_t runArg(Operation *op, Frame &frame, int64_t axis, bool largest) {
  Tensor input = frame[op->getOperand(0)];
  int64_t length = input.getDim(axis);
  if (length == 0)
    return frame.fail(op, ADRT_FAIL_BOUNDS, {axis, 0, 0});
  Tensor numbers = input.getType() == ElementType::I1 ? convert(input, ElementType::I32) : widen(input);
  Tensor rows = transpose(numbers, axisLast(input.getRank(), axis));
  Tensor result(ElementType::I64, without(input.getShape(), axis));
  withNumber(rows.getType(), [&](auto tag) {
    using T = decltype(tag);
    const T *row = rows.data<T>();
    for (int64_t i = 0, n = result.getNumElements(); i < n; ++i, row += length) {
      int64_t best = 0;
      for (int64_t j = 1; j < length; ++j)
        if (beats(row[j], row[best], largest))
          best = j;
      result.data<int64_t>()[i] = best;
    }
  });
  return frame.set(op->getResult(0), convert(result, elementOf(op->getResult(0))));
}

static int32_t runArgmax(ArgmaxOp op, Frame &frame) { return runArg(op, frame, op.getAxis(), true); }
static int32_t runArgmin(ArgminOp op, Frame &frame) { return runArg(op, frame, op.getAxis(), false); }

void mlir::ad::reference::registerReduction(Semantics &semantics) {
  semantics.add(runReduce<ReduceSumOp, Reduction::Sum>);
  semantics.add(runReduce<ReduceProdOp, Reduction::Product>);
  semantics.add(runReduce<ReduceMaxOp, Reduction::Maximum>);
  semantics.add(runReduce<ReduceMinOp, Reduction::Minimum>);
  semantics.add(runReduceMean);
  semantics.add(runSumToShape);
  semantics.add(runRunning<CumsumOp, Reduction::Sum>);
  semantics.add(runRunning<CumprodOp, Reduction::Product>);
  semantics.add(runRunning<CummaxOp, Reduction::Maximum>);
  semantics.add(runRunning<CumminOp, Reduction::Minimum>);
  semantics.add(runArgmax);
  semantics.add(runArgmin);
}
