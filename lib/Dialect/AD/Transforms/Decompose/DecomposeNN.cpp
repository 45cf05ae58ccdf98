// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The written decompositions of nn operations. The sequences are part of their meaning (docs/spec.md): the
// reference executes the same steps, so that no step may be left out, merged or reordered here.

#include "DecompositionSteps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// x - max(x), its exponential, and the sum of that, with the axis kept.
struct Exponentials {
  Exponentials(Steps &steps, Value x, int64_t axis) {
    Value maximum = steps.reduce<ReduceMaxOp>(x, axis, /*keepDims=*/true);
    shifted = steps.binary<SubOp>(x, maximum);
    powers = steps.unary<ExpOp>(shifted);
    sum = steps.reduce<ReduceSumOp>(powers, axis, /*keepDims=*/true);
  }
  Value shifted, powers, sum;
};

Value logSoftmax(Steps &steps, Value x, int64_t axis) {
  Exponentials parts(steps, x, axis);
  return steps.binary<SubOp>(parts.shifted, steps.unary<LogOp>(parts.sum));
}

// A decomposition that always applies.
template <typename OpTy> struct Decompose : NumericsPattern<OpTy> {
  explicit Decompose(MLIRContext *context) : NumericsPattern<OpTy>(context, "decompose") {}

  LogicalResult match(OpTy, SmallVectorImpl<Operation *> &, PatternRewriter &) const override {
    return success();
  }

  void rewrite(OpTy op, PatternRewriter &rewriter) const override {
    Steps steps(rewriter, op);
    rewriter.replaceOp(op, steps.finish(build(op, steps), op.getType()));
  }

  static Value build(OpTy op, Steps &steps);
};

template <> Value Decompose<SoftmaxOp>::build(SoftmaxOp op, Steps &steps) {
  Exponentials parts(steps, steps.computing(op.getInput()), op.getAxis());
  return steps.binary<DivOp>(parts.powers, parts.sum);
}

template <> Value Decompose<LogSoftmaxOp>::build(LogSoftmaxOp op, Steps &steps) {
  return logSoftmax(steps, steps.computing(op.getInput()), op.getAxis());
}

// rsqrt(mean(x * x) + epsilon) along the last axis.
Value reciprocalDeviation(Steps &steps, Value x, const APFloat &epsilon) {
  Value square = steps.binary<MulOp>(x, x);
  Value mean = steps.reduce<ReduceMeanOp>(square, Steps::lastAxis(x), /*keepDims=*/true);
  return steps.unary<RsqrtOp>(steps.addConstant(mean, epsilon));
}

template <> Value Decompose<LayerNormOp>::build(LayerNormOp op, Steps &steps) {
  Value x = steps.computing(op.getInput());
  Value scale = steps.parameter(x, op.getScale()), bias = steps.parameter(x, op.getBias());
  Value mean = steps.reduce<ReduceMeanOp>(x, Steps::lastAxis(x), /*keepDims=*/true);
  Value centred = steps.binary<SubOp>(x, mean);
  Value normal = steps.binary<MulOp>(centred, reciprocalDeviation(steps, centred, op.getEpsilon()));
  return steps.binary<AddOp>(steps.binary<MulOp>(normal, scale), bias);
}

template <> Value Decompose<RmsNormOp>::build(RmsNormOp op, Steps &steps) {
  Value x = steps.computing(op.getInput());
  Value scale = steps.parameter(x, op.getScale());
  Value normal = steps.binary<MulOp>(x, reciprocalDeviation(steps, x, op.getEpsilon()));
  return steps.binary<MulOp>(normal, scale);
}

// The labels with another number in place of the ignored one, if there is one.
Value replaceIgnored(Steps &steps, CrossEntropyOp op, Value labels, int64_t number) {
  if (!op.getIgnored())
    return labels;
  OpBuilder &builder = steps.builder;
  Type element = getElementTypeOrSelf(labels.getType());
  auto like = [&](int64_t value) {
    return broadcastLike(builder, steps.loc, integerConstant(builder, steps.loc, element, value), labels);
  };
  Value isIgnored = CompareOp::create(
      builder, steps.loc, cast<RankedTensorType>(labels.getType()).clone(builder.getI1Type()),
      ComparePredicate::eq, labels, like(*op.getIgnored()), PermissionsAttr());
  return SelectOp::create(builder, steps.loc, labels.getType(), isIgnored, like(number), labels,
                          PermissionsAttr());
}

// The largest or the smallest label, as a scalar of the host program.
template <typename ReduceOp> Value extremeLabel(Steps &steps, Value labels) {
  int64_t rank = cast<RankedTensorType>(labels.getType()).getRank();
  if (rank > 0)
    labels = ReduceOp::create(steps.builder, steps.loc, labels, llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                              /*keepDims=*/false);
  Value number = tensor::ExtractOp::create(steps.builder, steps.loc, labels, ValueRange());
  return arith::IndexCastOp::create(steps.builder, steps.loc, steps.builder.getIndexType(), number);
}

// Requires that labels are classes, or ignored: negative, unless the ignored number is written.
void requireClasses(Steps &steps, CrossEntropyOp op, Value logits, Value labels) {
  OpBuilder &builder = steps.builder;
  Value classes = getValueOrCreateConstantIndexOp(
      builder, steps.loc, sizeOf(builder, steps.loc, logits, Steps::lastAxis(logits)));
  auto require = [&](arith::CmpIPredicate predicate, Value number, Value limit) {
    Value holds = arith::CmpIOp::create(builder, steps.loc, predicate, number, limit);
    RequireOp::create(builder, steps.loc, ADRT_FAIL_CLASS, holds, ValueRange{number, classes}, steps.name);
  };
  require(arith::CmpIPredicate::slt, extremeLabel<ReduceMaxOp>(steps, replaceIgnored(steps, op, labels, -1)),
          classes);
  if (op.getIgnored())
    require(arith::CmpIPredicate::sge, extremeLabel<ReduceMinOp>(steps, replaceIgnored(steps, op, labels, 0)),
            arith::ConstantIndexOp::create(builder, steps.loc, 0));
}

// The elements of `values` whose index along the last axis is the label of their row, 0 elsewhere.
Value selectLabels(Steps &steps, Value values, Value labels) {
  OpBuilder &builder = steps.builder;
  Location loc = steps.loc;
  auto type = cast<RankedTensorType>(values.getType());
  auto labelsType = cast<RankedTensorType>(labels.getType());
  SmallVector<int64_t> shape(labelsType.getShape());
  shape.push_back(1);
  Value column = ReshapeOp::create(builder, loc, labelsType.clone(shape), labels,
                                   dynamicSizes(builder, loc, labels), PermissionsAttr());
  auto indexType = type.clone(labelsType.getElementType());
  Value index = IotaOp::create(builder, loc, indexType, dynamicSizes(builder, loc, values),
                               builder.getI64IntegerAttr(type.getRank() - 1), PermissionsAttr());
  Value chosen = CompareOp::create(builder, loc, type.clone(builder.getI1Type()), ComparePredicate::eq, index,
                                   broadcastLike(builder, loc, column, values), PermissionsAttr());
  return SelectOp::create(builder, loc, type, chosen, values, fullLike(builder, loc, values, 0.0),
                          PermissionsAttr());
}

template <> Value Decompose<CrossEntropyOp>::build(CrossEntropyOp op, Steps &steps) {
  Value logits = steps.computing(op.getLogits());
  int64_t axis = Steps::lastAxis(logits);
  Value labels = steps.requireShape(logits, 0, op.getLabels());
  bool probabilities = isa<FloatType>(cast<RankedTensorType>(op.getLabels().getType()).getElementType());
  if (!probabilities) {
    requireClasses(steps, op, logits, labels);
    labels = replaceIgnored(steps, op, labels, -1);
  }
  Value logarithm = logSoftmax(steps, logits, axis);
  Value weighted = probabilities ? steps.binary<MulOp>(steps.computing(labels), logarithm)
                                 : selectLabels(steps, logarithm, labels);
  return steps.unary<NegOp>(steps.reduce<ReduceSumOp>(weighted, axis, /*keepDims=*/false));
}

// Broadcasts stay implicit where ad.clamp had them.
template <> Value Decompose<ClampOp>::build(ClampOp op, Steps &steps) {
  Value raised = MaxOp::create(steps.builder, steps.loc, op.getInput(), op.getLow(), PermissionsAttr());
  return MinOp::create(steps.builder, steps.loc, raised, op.getHigh(), PermissionsAttr());
}
} // namespace

void ad::populateDecomposeNNPatterns(RewritePatternSet &patterns) {
  patterns.add<Decompose<SoftmaxOp>, Decompose<LogSoftmaxOp>, Decompose<LayerNormOp>, Decompose<RmsNormOp>,
               Decompose<CrossEntropyOp>, Decompose<ClampOp>>(patterns.getContext());
}
