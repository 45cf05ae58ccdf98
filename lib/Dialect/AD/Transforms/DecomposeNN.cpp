// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The written decompositions of nn operations. The sequences are part of their meaning (docs/spec.md): the
// reference executes the same steps, so that no step may be left out, merged or reordered here.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// Builds the steps of one decomposition: everything in the type that the operation computes in, sums in its
// order.
class Steps {
public:
  Steps(OpBuilder &builder, Operation *op)
      : builder(builder), loc(rememberWritten(op)), name(writtenName(op)) {
    if (auto numerics = dyn_cast<NumericsOpInterface>(op))
      order = numerics.getSummationOrder();
  }

  static int64_t lastAxis(Value value) { return cast<RankedTensorType>(value.getType()).getRank() - 1; }

  Value computing(Value value) {
    return castTo(builder, loc, value, computeType(cast<RankedTensorType>(value.getType()).getElementType()));
  }

  template <typename Op> Value unary(Value x) {
    return Op::create(builder, loc, x.getType(), x, PermissionsAttr());
  }

  // `y` gets the shape of `x`.
  template <typename Op> Value binary(Value x, Value y) {
    return Op::create(builder, loc, x.getType(), x, broadcastLike(builder, loc, y, x), PermissionsAttr());
  }

  template <typename Op> Value reduce(Value x, int64_t axis, bool keepDims) {
    auto reduced = Op::create(builder, loc, x, ArrayRef<int64_t>{axis}, keepDims);
    if (order)
      reduced.setSummationOrder(order);
    return reduced;
  }

  Value addConstant(Value x, const APFloat &value) {
    return AddOp::create(builder, loc, x.getType(), x, fullLike(builder, loc, x, value.convertToDouble()),
                         PermissionsAttr());
  }

  // Parameters and labels do not broadcast: a dynamic size is that of `x`.
  void requireSize(Value x, int64_t axis, Value other, int64_t otherAxis) {
    if (haveSameSize(x, axis, other, otherAxis))
      return;
    auto value = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(builder, loc, size); };
    Value expected = value(sizeOf(builder, loc, x, axis));
    Value actual = value(sizeOf(builder, loc, other, otherAxis));
    Value agree = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, expected, actual);
    Value axisValue = value(builder.getIndexAttr(otherAxis));
    RequireOp::create(builder, loc, ADRT_FAIL_SAME_SIZE, agree, ValueRange{axisValue, expected, actual},
                      name);
  }

  void requireShape(Value x, Value other) {
    for (int64_t axis = 0; axis < cast<RankedTensorType>(other.getType()).getRank(); ++axis)
      requireSize(x, axis, other, axis);
  }

  // The result in the operation's own type; a size that one type knows and the other does not is checked at
  // run time.
  Value finish(Value x, Type type) {
    auto target = cast<RankedTensorType>(type);
    x = castTo(builder, loc, x, target.getElementType());
    if (x.getType() == type)
      return x;
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < target.getRank(); ++dim)
      if (target.isDynamicDim(dim))
        sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, x, dim)));
    return BroadcastOp::create(builder, loc, type, x, sizes, PermissionsAttr());
  }

  OpBuilder &builder;
  Location loc;
  StringRef name;
  OrderAttr order;
};

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
  steps.requireSize(x, Steps::lastAxis(x), op.getScale(), 0);
  steps.requireSize(x, Steps::lastAxis(x), op.getBias(), 0);
  Value mean = steps.reduce<ReduceMeanOp>(x, Steps::lastAxis(x), /*keepDims=*/true);
  Value centred = steps.binary<SubOp>(x, mean);
  Value normal = steps.binary<MulOp>(centred, reciprocalDeviation(steps, centred, op.getEpsilon()));
  Value scaled = steps.binary<MulOp>(normal, steps.computing(op.getScale()));
  return steps.binary<AddOp>(scaled, steps.computing(op.getBias()));
}

template <> Value Decompose<RmsNormOp>::build(RmsNormOp op, Steps &steps) {
  Value x = steps.computing(op.getInput());
  steps.requireSize(x, Steps::lastAxis(x), op.getScale(), 0);
  Value normal = steps.binary<MulOp>(x, reciprocalDeviation(steps, x, op.getEpsilon()));
  return steps.binary<MulOp>(normal, steps.computing(op.getScale()));
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
  steps.requireShape(logits, op.getLabels());
  Value logarithm = logSoftmax(steps, logits, axis);
  bool probabilities = isa<FloatType>(cast<RankedTensorType>(op.getLabels().getType()).getElementType());
  Value weighted = probabilities ? steps.binary<MulOp>(steps.computing(op.getLabels()), logarithm)
                                 : selectLabels(steps, logarithm, op.getLabels());
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
