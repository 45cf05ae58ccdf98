// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of the operations of neural networks: closed formulas, shorter and steadier than the
// derivative of the decomposition. They compute in the compute type and round once, as the operations do.

#include "Rules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static int64_t lastAxis(Value value) { return typeOf(value).getRank() - 1; }

static Value sumAlong(Rule &rule, Value value, int64_t axis) {
  return ReduceSumOp::create(rule.builder, rule.loc, value, ArrayRef<int64_t>(axis), /*keepDims=*/true);
}
static Value meanOfRows(Rule &rule, Value value) {
  return ReduceMeanOp::create(rule.builder, rule.loc, value, ArrayRef<int64_t>(lastAxis(value)),
                              /*keepDims=*/true);
}

//===- softmax and log_softmax -===//

static LogicalResult softmaxRule(SoftmaxOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value y = rule.widen(op.getResult()), g = rule.widen(rule.cotangent);
  Value sum = sumAlong(rule, rule.mul(g, y), op.getAxis());
  rule.give(0, rule.mul(y, rule.sub(g, sum)));
  return success();
}

static LogicalResult logSoftmaxRule(LogSoftmaxOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value y = rule.widen(op.getResult()), g = rule.widen(rule.cotangent);
  rule.give(0, rule.sub(g, rule.mul(rule.exp(y), sumAlong(rule, g, op.getAxis()))));
  return success();
}

//===- layer_norm and rms_norm -===//

namespace {
/// Common parts of both norms: 1 / sqrt(mean(d^2) + epsilon) and the normalized rows n = d * r.
struct Normalized {
  Value r, n;
  Normalized(Rule &rule, Value deviation, const APFloat &epsilon) {
    Value meanSquare = meanOfRows(rule, rule.square(deviation));
    r = rule.unary<RsqrtOp>(rule.add(meanSquare, epsilon.convertToDouble()));
    n = rule.mul(deviation, r);
  }
  /// n * mean(h * n): the projection of h onto n.
  Value along(Rule &rule, Value h) { return rule.mul(n, meanOfRows(rule, rule.mul(h, n))); }
};
} // namespace

static LogicalResult layerNormRule(LayerNormOp op, Rule &rule) {
  Value g = rule.widen(rule.cotangent);
  if (rule.wants(0) || rule.wants(1)) {
    Value x = rule.widen(op.getInput());
    Normalized rows(rule, rule.sub(x, meanOfRows(rule, x)), op.getEpsilon());
    if (rule.wants(0)) {
      Value h = rule.mul(g, rule.cast(op.getScale(), getElementTypeOrSelf(g.getType())));
      Value centred = rule.sub(h, meanOfRows(rule, h));
      rule.give(0, rule.mul(rows.r, rule.sub(centred, rows.along(rule, h))));
    }
    if (rule.wants(1))
      rule.giveSummed(1, rule.mul(g, rows.n));
  }
  if (rule.wants(2))
    rule.giveSummed(2, g);
  return success();
}

static LogicalResult rmsNormRule(RmsNormOp op, Rule &rule) {
  Value g = rule.widen(rule.cotangent);
  Normalized rows(rule, rule.widen(op.getInput()), op.getEpsilon());
  if (rule.wants(0)) {
    Value h = rule.mul(g, rule.cast(op.getScale(), getElementTypeOrSelf(g.getType())));
    rule.give(0, rule.mul(rows.r, rule.sub(h, rows.along(rule, h))));
  }
  if (rule.wants(1))
    rule.giveSummed(1, rule.mul(g, rows.n));
  return success();
}

//===- cross_entropy -===//

// A value per row as a column that broadcasts along the rows of `like`.
static Value asColumn(Rule &rule, Value value, Value like) {
  SmallVector<int64_t> shape(typeOf(like).getShape());
  shape.back() = 1;
  SmallVector<Value> sizes = dynamicSizes(rule.builder, rule.loc, like);
  if (typeOf(like).isDynamicDim(lastAxis(like)))
    sizes.pop_back();
  return ReshapeOp::create(rule.builder, rule.loc, typeOf(value).clone(shape), value, sizes,
                           PermissionsAttr());
}

// Along the last axis.
static Value softmaxOf(Rule &rule, Value logits) {
  return SoftmaxOp::create(rule.builder, rule.loc, logits, static_cast<uint64_t>(lastAxis(logits)),
                           OrderAttr(), PermissionsAttr());
}

// The number of classes as a rank-0 tensor of the labels' type.
static Value classCount(Rule &rule, Value logits, Type element) {
  OpFoldResult size = sizeOf(rule.builder, rule.loc, logits, lastAxis(logits));
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return scalarConstant(rule.builder, rule.loc, element, static_cast<double>(*constant));
  Value count = arith::IndexCastOp::create(rule.builder, rule.loc, element, cast<Value>(size));
  return FullOp::create(rule.builder, rule.loc, RankedTensorType::get({}, element), count, ValueRange(),
                        PermissionsAttr());
}

// Class numbers: g * (softmax - onehot) in rows whose number is a class. The logits of the other rows may be
// anything, such as the -inf of padding, whose softmax is NaN: the mask comes after the product.
static void classRule(CrossEntropyOp op, Rule &rule, Value logits, Value g) {
  Value labels = asColumn(rule, op.getLabels(), logits);
  Type element = getElementTypeOrSelf(labels.getType());
  Value isClass =
      rule.binary<AndOp>(rule.compare(ComparePredicate::ge, labels, 0.0),
                         rule.compare(ComparePredicate::lt, labels, classCount(rule, logits, element)));
  if (op.getIgnored()) {
    Value ignored = integerConstant(rule.builder, rule.loc, element, *op.getIgnored());
    isClass = rule.binary<AndOp>(isClass, rule.compare(ComparePredicate::ne, labels, ignored));
  }
  Value numbers = IotaOp::create(rule.builder, rule.loc, typeOf(logits).clone(element),
                                 dynamicSizes(rule.builder, rule.loc, logits),
                                 static_cast<uint64_t>(lastAxis(logits)), PermissionsAttr());
  Value isLabel = rule.compare(ComparePredicate::eq, numbers, labels);
  Value softmax = softmaxOf(rule, logits);
  Value oneHot = rule.select(isLabel, rule.number(softmax, 1.0), rule.number(softmax, 0.0));
  rule.give(0, rule.onlyWhere(isClass, rule.mul(g, rule.sub(softmax, oneHot))));
}

static LogicalResult crossEntropyRule(CrossEntropyOp op, Rule &rule) {
  Value logits = rule.widen(op.getLogits());
  Value g = asColumn(rule, rule.widen(rule.cotangent), logits);
  g = rule.cast(g, getElementTypeOrSelf(logits.getType()));
  uint64_t axis = lastAxis(logits);
  bool isClass = isa<IntegerType>(getElementTypeOrSelf(op.getLabels().getType()));
  if (isClass && rule.wants(0))
    classRule(op, rule, logits, g);
  if (!isClass && rule.wants(0)) {
    Value labels = rule.cast(op.getLabels(), getElementTypeOrSelf(logits.getType()));
    Value predicted = rule.mul(softmaxOf(rule, logits), sumAlong(rule, labels, axis));
    rule.give(0, rule.mul(g, rule.sub(predicted, labels)));
  }
  if (!isClass && rule.wants(1)) {
    Value logs = LogSoftmaxOp::create(rule.builder, rule.loc, logits, axis, OrderAttr(), PermissionsAttr());
    rule.give(1, rule.neg(rule.mul(g, logs)));
  }
  return success();
}

void ad::attachNNRules(MLIRContext *context) {
  attachRule<SoftmaxOp, softmaxRule>(context);
  attachRule<LogSoftmaxOp, logSoftmaxRule>(context);
  attachRule<LayerNormOp, layerNormRule>(context);
  attachRule<RmsNormOp, rmsNormRule>(context);
  attachRule<CrossEntropyOp, crossEntropyRule>(context);
}
