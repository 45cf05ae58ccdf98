// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AttentionChecks.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
struct Axis {
  Value tensor;
  int64_t number;
};
} // namespace

static bool isKnown(const Axis &axis) {
  return !cast<RankedTensorType>(axis.tensor.getType()).isDynamicDim(axis.number);
}

// The first one whose size is in its type, else the first one.
static Axis namer(ArrayRef<Axis> axes) {
  const Axis *known = llvm::find_if(axes, isKnown);
  return known == axes.end() ? axes.front() : *known;
}

static void expect(ConditionWriter &write, Operation *op, const Axis &operand, const Axis &named) {
  if ((isKnown(operand) && isKnown(named)) ||
      haveSameSize(operand.tensor, operand.number, named.tensor, named.number))
    return;
  auto number = static_cast<int64_t>(llvm::find(op->getOperands(), operand.tensor) - op->operand_begin());
  Value wanted = write.size(named.tensor, named.number), actual = write.size(operand.tensor, operand.number);
  write.require(kOperandSizeFailure, write.equal(actual, wanted),
                {write.constant(number), write.constant(operand.number), wanted, actual});
}

namespace {
// Axes whose sizes others have.
struct NamedAxes {
  Axis batch, queries;
};
} // namespace

template <typename Op> static NamedAxes requireSizesOfOperands(ConditionWriter &write, Op op) {
  Value query = op.getQuery(), key = op.getKey(), value = op.getValue(), mask = op.getMask();
  Axis batch = namer({{query, 0}, {key, 0}, {value, 0}}), keys = namer({{key, 2}, {value, 2}});
  for (Value operand : {query, key, value})
    expect(write, op, {operand, 0}, batch);
  for (Value operand : {key, value})
    expect(write, op, {operand, 2}, keys);
  Axis sizes[] = {batch, {query, 1}, {query, 2}, keys};
  for (auto [axis, named] : llvm::enumerate(sizes))
    if (mask && cast<RankedTensorType>(mask.getType()).getDimSize(axis) != 1)
      expect(write, op, {mask, static_cast<int64_t>(axis)}, named);
  return {batch, {query, 2}};
}

void ad::requireSizesOfAttention(ConditionWriter &write, AttentionOp op) {
  requireSizesOfOperands(write, op);
}

void ad::requireSizesOfAttention(ConditionWriter &write, AttentionGradOp op) {
  NamedAxes named = requireSizesOfOperands(write, op);
  for (Value operand : {op.getLogSum(), op.getDelta(), op.getCotangent()}) {
    expect(write, op, {operand, 0}, named.batch);
    expect(write, op, {operand, 2}, named.queries);
  }
}
