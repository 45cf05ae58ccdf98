// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Softmax and its logarithm without the shift by the maximum, and with a maximum that is found on the way.

#include "Implementations.h"

#include <limits>

using namespace mlir;
using namespace mlir::ad;

namespace {
// The input, the shift of each row (null: none), and the sum of the exponentials.
struct Row {
  Value x, shift, sum;

  Value shifted(Steps &steps) const { return shift ? steps.binary<SubOp>(x, shift) : x; }
};
} // namespace

static Row unshifted(Value input, int64_t axis, Steps &steps) {
  Value x = steps.computing(input);
  Value powers = steps.unary<ExpOp>(x);
  return {x, Value(), steps.reduce<ReduceSumOp>(powers, axis, /*keepDims=*/true)};
}

// The maximum, with 0 for -inf: an exponential of -inf - 0 is 0, that of -inf - -inf would be NaN.
static Value finiteShift(Steps &steps, Value maximum) {
  OpBuilder &builder = steps.builder;
  auto type = cast<RankedTensorType>(maximum.getType());
  Value lowest = fullLike(builder, steps.loc, maximum, -std::numeric_limits<double>::infinity());
  Value isLowest = CompareOp::create(builder, steps.loc, type.clone(builder.getI1Type()),
                                     ComparePredicate::eq, maximum, lowest, PermissionsAttr());
  return SelectOp::create(builder, steps.loc, type, isLowest, fullLike(builder, steps.loc, maximum, 0.0),
                          maximum, PermissionsAttr());
}

// The recurrence of Milakov and Gimelshein: the sum is rescaled whenever the maximum grows.
static Row online(Value input, int64_t axis, Steps &steps) {
  Value x = steps.computing(input);
  SmallVector<Value> start = {columnOf(steps, x, axis, -std::numeric_limits<double>::infinity()),
                              columnOf(steps, x, axis, 0.0)};
  SmallVector<Value> last = loopAlongAxis(steps, x, axis, start, [&](Value value, ValueRange carried) {
    Value maximum = steps.binary<MaxOp>(carried[0], value);
    Value shift = finiteShift(steps, maximum);
    Value factor = steps.unary<ExpOp>(steps.binary<SubOp>(carried[0], shift));
    Value power = steps.unary<ExpOp>(steps.binary<SubOp>(value, shift));
    Value sum = steps.binary<AddOp>(steps.binary<MulOp>(carried[1], factor), power);
    return SmallVector<Value>{maximum, sum};
  });
  return {x, last[0], last[1]};
}

static Value softmaxOf(const Row &row, Steps &steps) {
  return steps.binary<DivOp>(steps.unary<ExpOp>(row.shifted(steps)), row.sum);
}

static Value logSoftmaxOf(const Row &row, Steps &steps) {
  return steps.binary<SubOp>(row.shifted(steps), steps.unary<LogOp>(row.sum));
}

Value ad::buildUnshiftedSoftmax(Operation *op, Steps &steps) {
  auto softmax = cast<SoftmaxOp>(op);
  return softmaxOf(unshifted(softmax.getInput(), softmax.getAxis(), steps), steps);
}

Value ad::buildOnlineSoftmax(Operation *op, Steps &steps) {
  auto softmax = cast<SoftmaxOp>(op);
  return softmaxOf(online(softmax.getInput(), softmax.getAxis(), steps), steps);
}

Value ad::buildUnshiftedLogSoftmax(Operation *op, Steps &steps) {
  auto softmax = cast<LogSoftmaxOp>(op);
  return logSoftmaxOf(unshifted(softmax.getInput(), softmax.getAxis(), steps), steps);
}

Value ad::buildOnlineLogSoftmax(Operation *op, Steps &steps) {
  auto softmax = cast<LogSoftmaxOp>(op);
  return logSoftmaxOf(online(softmax.getInput(), softmax.getAxis(), steps), steps);
}
