// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Other formulas of the variance in ad.layer_norm.

#include "Implementations.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// The operands, once their sizes are checked.
struct NormOperands {
  NormOperands(LayerNormOp op, Steps &steps)
      : x(steps.computing(op.getInput())), scale(steps.parameter(x, op.getScale())),
        bias(steps.parameter(x, op.getBias())) {}
  Value x, scale, bias;
};
} // namespace

// As the written decomposition ends: centred * rsqrt(variance + epsilon) * scale + bias.
static Value normalize(LayerNormOp op, Steps &steps, const NormOperands &operands, Value mean,
                       Value variance) {
  Value centred = steps.binary<SubOp>(operands.x, mean);
  Value deviation = steps.unary<RsqrtOp>(steps.addConstant(variance, op.getEpsilon()));
  Value scaled = steps.binary<MulOp>(steps.binary<MulOp>(centred, deviation), operands.scale);
  return steps.binary<AddOp>(scaled, operands.bias);
}

// Welford's recurrence: mean += d / i and squares += d * (x - mean), with d = x - mean before.
Value ad::buildWelfordLayerNorm(Operation *operation, Steps &steps) {
  auto op = cast<LayerNormOp>(operation);
  OpBuilder &builder = steps.builder;
  NormOperands operands(op, steps);
  Value x = operands.x;
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
  return normalize(op, steps, operands, last[1], variance);
}

// max(mean(x * x) - mean(x) * mean(x), 0): rounding can make the difference negative.
Value ad::buildOnePassLayerNorm(Operation *operation, Steps &steps) {
  auto op = cast<LayerNormOp>(operation);
  NormOperands operands(op, steps);
  Value x = operands.x;
  int64_t axis = Steps::lastAxis(x);
  Value mean = steps.reduce<ReduceMeanOp>(x, axis, /*keepDims=*/true);
  Value squares = steps.reduce<ReduceMeanOp>(steps.binary<MulOp>(x, x), axis, /*keepDims=*/true);
  Value difference = steps.binary<SubOp>(squares, steps.binary<MulOp>(mean, mean));
  Value variance = steps.binary<MaxOp>(difference, columnOf(steps, x, axis, 0.0));
  return normalize(op, steps, operands, mean, variance);
}
