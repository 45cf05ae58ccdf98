// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad.sum_to_shape as reductions over one axis. Where run-time sizes decide whether an axis is summed, the
// axis is split into one that is summed and one that stays: p into p x 1 when the result has size 1, into 1 x
// p when it has size p.

#include "ReductionSteps.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// Sums one value step by step, from the last axis to the first, in the accumulator's type.
class OpenSum {
public:
  OpenSum(OpBuilder &builder, SumToShapeOp op)
      : builder(builder), op(op), loc(op.getLoc()), value(op.getInput()),
        lead(cast<RankedTensorType>(value.getType()).getRank() -
             cast<RankedTensorType>(op.getType()).getRank()) {}

  Value run() {
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<SizeOrigin> from = origins(op.getInput()), to = origins(op.getResult());
    int64_t rank = from.size();
    requireSizes(from, to);
    // A single step rounds to the result by itself. A sum over no axis rounds too: it converts the infinities
    // of f8E5M2 into numbers.
    int64_t steps = 0;
    for (int64_t axis = 0; axis < rank; ++axis)
      steps += axis < lead                           ? 1
               : from[axis] == to[axis - lead]       ? 0
               : isOpen(from[axis], to[axis - lead]) ? 2
                                                     : 1;
    Type element = steps == 1 ? type.getElementType() : accumulatorType(type.getElementType());
    if (steps == 0)
      value = castTo(builder, loc, value, element);
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      if (axis >= lead && from[axis] == to[axis - lead])
        continue;
      if (axis >= lead && isOpen(from[axis], to[axis - lead]))
        sumOpenAxis(axis, from[axis], to[axis - lead]);
      else
        value = reduceAxis<ReduceSumOp>(builder, loc, value, axis, element,
                                        orderOfStep(op.getOrderAttr(), axis, rank));
    }
    return toType(builder, loc, value, type, [&] { return SmallVector<Value>(op.getSizes()); });
  }

private:
  SmallVector<SizeOrigin> origins(Value tensor) {
    SmallVector<SizeOrigin> found;
    for (int64_t axis = 0; axis < cast<RankedTensorType>(tensor.getType()).getRank(); ++axis)
      found.push_back(sizes.originOfSize(tensor, axis));
    return found;
  }

  // Whether run-time sizes decide if the axis is summed: its two sizes are not provably equal.
  static bool isOpen(const SizeOrigin &from, const SizeOrigin &to) {
    return to.number != 1 || from.number < 0;
  }

  Value equals(Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs, rhs);
  }

  Value index(int64_t number) { return arith::ConstantIndexOp::create(builder, loc, number); }

  void require(int32_t kind, Value condition, ValueRange values) {
    RequireOp::create(builder, loc, kind, condition, values, op->getName().getStringRef());
  }

  // In the order of the reference interpreter: sizes that are negative, then those that do not fit.
  void requireSizes(ArrayRef<SizeOrigin> from, ArrayRef<SizeOrigin> to) {
    for (auto [axis, size] : llvm::enumerate(to)) {
      if (size.number >= 0 || size.dimension >= 0) // a tensor has no negative size
        continue;
      Value want = materializeSize(builder, loc, size);
      Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, want, index(0));
      require(ADRT_FAIL_NEGATIVE, fits, {index(axis), want});
    }
    for (auto [axis, size] : llvm::enumerate(to)) {
      const SizeOrigin &own = from[lead + axis];
      if (own == size || !isOpen(own, size))
        continue;
      Value have = materializeSize(builder, loc, own), want = materializeSize(builder, loc, size);
      Value fits = arith::OrIOp::create(builder, loc, equals(want, index(1)), equals(have, want));
      require(ADRT_FAIL_BROADCAST, fits, {index(lead + axis), want, have});
    }
  }

  void sumOpenAxis(int64_t axis, const SizeOrigin &from, const SizeOrigin &to) {
    Value have = materializeSize(builder, loc, from), want = materializeSize(builder, loc, to);
    Value one = index(1);
    Value summed = arith::SelectOp::create(builder, loc, equals(want, one), have, one);
    splitAndSum(axis, summed, want, equals(summed, one));
  }

  // Splits the axis into `summed` times `kept` and sums the first. Where that sums a single element, the
  // element itself is the result: 0 + -0 would lose the sign. The maximum of one element picks it.
  void splitAndSum(int64_t axis, Value summed, Value kept, Value isSingle) {
    auto type = cast<RankedTensorType>(value.getType());
    value = castTo(builder, loc, value, accumulatorType(type.getElementType()));
    type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = cast<RankedTensorType>(op.getType()).getDimSize(axis - lead);
    RankedTensorType result = type.clone(shape);
    SmallVector<Value> resultSizes, splitSizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (i == axis)
        splitSizes.push_back(summed);
      if (!ShapedType::isDynamic(shape[i]))
        continue;
      Value size = i == axis ? kept : materializeSize(builder, loc, sizes.originOfSize(value, i));
      resultSizes.push_back(size);
      splitSizes.push_back(size);
    }
    shape.insert(shape.begin() + axis, ShapedType::kDynamic);
    Value split = ReshapeOp::create(builder, loc, type.clone(shape), value, splitSizes, PermissionsAttr());
    Value sum = ReduceSumOp::create(builder, loc, result, split, ArrayRef<int64_t>{axis}, /*keepDims=*/false,
                                    orderOfAxis(axis, type.getRank()), PermissionsAttr());
    value = sum;
    if (!isa<FloatType>(type.getElementType()))
      return;
    Value element = ReduceMaxOp::create(builder, loc, result, split, ArrayRef<int64_t>{axis},
                                        /*keepDims=*/false, OrderAttr(), PermissionsAttr());
    Value single = FullOp::create(builder, loc, result.clone(builder.getI1Type()), isSingle, resultSizes,
                                  PermissionsAttr());
    value = SelectOp::create(builder, loc, result, single, element, sum, PermissionsAttr());
  }

  // An explicit order, since the rule for canonical orders would not find the split axis.
  OrderAttr orderOfAxis(int64_t axis, int64_t rank) {
    if (OrderAttr written = op.getOrderAttr())
      return orderOfStep(written, axis, rank);
    MLIRContext *context = op.getContext();
    return axis == rank - 1 ? OrderAttr::canonicalLanes(context) : OrderAttr::canonicalBlocks(context);
  }

  OpBuilder &builder;
  SumToShapeOp op;
  Location loc;
  Value value;
  int64_t lead;
  SizeAnalysis sizes;
};

struct SumToShapeAsReductions : NumericsPattern<SumToShapeOp> {
  explicit SumToShapeAsReductions(MLIRContext *context)
      : NumericsPattern(context, "sum-to-shape-as-reductions") {}

  LogicalResult match(SumToShapeOp, SmallVectorImpl<Operation *> &, PatternRewriter &) const override {
    return success();
  }
  void rewrite(SumToShapeOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, OpenSum(rewriter, op).run());
  }
};
} // namespace

void ad::populateDecomposeSumToShapePatterns(RewritePatternSet &patterns) {
  patterns.add<SumToShapeAsReductions>(patterns.getContext());
}
