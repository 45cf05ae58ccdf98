// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations of layers, where that of the decomposition would compute or save more.

#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ADLayerOps.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// g * softmax(x), which is computed again: the result may be rounded to a narrow type. The elements of a row
// whose sum is zero add nothing.
static LogicalResult logSumExpRule(LogSumExpOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value x = rule.widen(op.getInput());
  SmallVector<int64_t> kept(typeOf(x).getShape());
  kept[op.getAxis()] = 1;
  auto withAxis = [&](Value reduced) {
    Value wide = rule.widen(reduced);
    return reshapeTo(rule.builder, rule.loc, wide, typeOf(wide).clone(kept),
                     dynamicSizes(rule.builder, rule.loc, wide));
  };
  Value y = withAxis(op.getResult()), g = withAxis(rule.cotangent);
  Value hasSum = rule.compare(ComparePredicate::ne, y, -std::numeric_limits<double>::infinity());
  Value weights = SoftmaxOp::create(rule.builder, rule.loc, x, op.getAxis(), OrderAttr(), PermissionsAttr());
  rule.give(0, rule.onlyWhere(hasSum, rule.mul(weights, g)));
  return success();
}

static LogicalResult rotaryEmbeddingRule(RotaryEmbeddingOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value g = rule.cotangent;
  // The smallest i8 and i32 have no negative one.
  Value back = rule.neg(rule.cast(op.getPositions(), rule.builder.getI64Type()));
  rule.give(0, RotaryEmbeddingOp::create(rule.builder, rule.loc, g.getType(), g, back, op.getBase(),
                                         op.getInterleaved(), PermissionsAttr()));
  return success();
}

static LogicalResult dropoutRule(DropoutOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value g = rule.cotangent;
  rule.give(0, DropoutOp::create(rule.builder, rule.loc, g.getType(), g, op.getKey(), op.getCounter(),
                                 op.getRate(), PermissionsAttr()));
  return success();
}

void ad::attachLayerRules(MLIRContext *context) {
  attachZeroRules<OneHotOp>(context);
  attachRule<LogSumExpOp, logSumExpRule>(context);
  attachRule<RotaryEmbeddingOp, rotaryEmbeddingRule>(context);
  attachRule<DropoutOp, dropoutRule>(context);
}
