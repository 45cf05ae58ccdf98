// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Other formulas of the variance in ad.layer_norm.

#include "Implementations.h"

using namespace mlir;
using namespace mlir::ad;

static Value checkedInput(LayerNormOp op, Steps &steps) {
  Value x = steps.computing(op.getInput());
  steps.requireSize(x, Steps::lastAxis(x), op.getScale(), 0);
  steps.requireSize(x, Steps::lastAxis(x), op.getBias(), 0);
  return x;
}

// As the written decomposition ends: centred * rsqrt(variance + epsilon) * scale + bias.
static Value normalize(LayerNormOp op, Steps &steps, Value x, Value mean, Value variance) {
  Value centred = steps.binary<SubOp>(x, mean);
  Value deviation = steps.unary<RsqrtOp>(steps.addConstant(variance, op.getEpsilon()));
  Value scaled = steps.binary<MulOp>(steps.binary<MulOp>(centred, deviation), steps.computing(op.getScale()));
  return steps.binary<AddOp>(scaled, steps.computing(op.getBias()));
}

// Welford's recurrence: mean += d / i and squares += d * (x - mean), with d = x - mean before.
Value ad::buildWelfordLayerNorm(Operation *operation, Steps &steps) {
  auto op = cast<LayerNormOp>(operation);
  OpBuilder &builder = steps.builder;
  Value x = checkedInput(op, steps);
  int64_t axis = Steps::lastAxis(x);
  Type element = getElementTypeOrSelf(x.getType());
  // An integer counts: floats cannot count beyond their mantissa.
  Value zero = scalarConstant(builder, steps.loc, builder.getI64Type(), 0);
  Value one = scalarConstant(builder, steps.loc, builder.getI64Type(), 1);
  Value column = columnOf(steps, x, axis, 0.0);
  SmallVector<Value> last =
      loopAlongAxis(steps, x, axis, {zero, column, column}, [&](Value value, ValueRange carried) {
        Value count = steps.binary<AddOp>(carried[0], one);
        Value difference = steps.binary<SubOp>(value, carried[1]);
        Value part = steps.binary<DivOp>(difference, castTo(builder, steps.loc, count, element));
        Value mean = steps.binary<AddOp>(carried[1], part);
        Value square = steps.binary<MulOp>(difference, steps.binary<SubOp>(value, mean));
        return SmallVector<Value>{count, mean, steps.binary<AddOp>(carried[2], square)};
      });
  Value variance = steps.binary<DivOp>(last[2], castTo(builder, steps.loc, last[0], element));
  return normalize(op, steps, x, last[1], variance);
}

// max(mean(x * x) - mean(x) * mean(x), 0): rounding can make the difference negative.
Value ad::buildOnePassLayerNorm(Operation *operation, Steps &steps) {
  auto op = cast<LayerNormOp>(operation);
  Value x = checkedInput(op, steps);
  int64_t axis = Steps::lastAxis(x);
  Value mean = steps.reduce<ReduceMeanOp>(x, axis, /*keepDims=*/true);
  Value squares = steps.reduce<ReduceMeanOp>(steps.binary<MulOp>(x, x), axis, /*keepDims=*/true);
  Value difference = steps.binary<SubOp>(squares, steps.binary<MulOp>(mean, mean));
  Value variance = steps.binary<MaxOp>(difference, columnOf(steps, x, axis, 0.0));
  return normalize(op, steps, x, mean, variance);
}
