// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over several axes as reductions over one axis at a time, from the last axis to the first.
// Intermediate results keep the reduced axes as 1, so that the rule for canonical orders sees which axis was
// the innermost one.

#include "ReductionSteps.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;

static SmallVector<int64_t> fromLastToFirst(ArrayRef<int64_t> axes) {
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted, std::greater<int64_t>());
  return sorted;
}

// Whether intermediate results of the reduction are wider than its elements.
template <typename ReduceOp> static Type elementBetween(Type element) {
  bool accumulates = std::is_same_v<ReduceOp, ReduceSumOp> || std::is_same_v<ReduceOp, ReduceProdOp>;
  return accumulates ? accumulatorType(element) : element;
}

// Whether every order of combination gives the same bits, so that axes may be merged or reduced in another
// order.
template <typename ReduceOp> static bool isFreeOfOrder(ReduceOp op) {
  bool isExtreme = std::is_same_v<ReduceOp, ReduceMaxOp> || std::is_same_v<ReduceOp, ReduceMinOp>;
  return isExtreme || isa<IntegerType>(getElementTypeOrSelf(op.getInput().getType()));
}

// Whether vectors would run along a last axis that is shorter than they are, and there is another kept axis.
template <typename ReduceOp> static bool keepsShortLastAxes(ReduceOp op) {
  constexpr int64_t kShort = 16;
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t last = type.getRank() - 1;
  auto isKept = [&](int64_t axis) { return !llvm::is_contained(op.getAxes(), axis); };
  return last > 0 && type.getShape().back() < kShort && isKept(last) && isKept(last - 1);
}

// Whether the input is a tensor in memory, of which a reshape is another view. A reshape of a computed input
// would keep what computes it out of the kernel.
template <typename ReduceOp> static bool readsMemory(ReduceOp op) {
  return isa<BlockArgument>(op.getInput()) &&
         cast<RankedTensorType>(op.getInput().getType()).hasStaticShape();
}

// Reshapes the input so that adjacent axes become one: reduced axes if the order does not matter (then one
// reduction does the work of several), and kept axes if they are short.
template <typename ReduceOp>
static Value mergeAxes(ReduceOp op, PatternRewriter &rewriter, SmallVectorImpl<int64_t> &axes) {
  Value input = op.getInput();
  if (!readsMemory(op))
    return input;
  auto type = cast<RankedTensorType>(input.getType());
  bool mergesReduced = isFreeOfOrder(op), mergesKept = keepsShortLastAxes(op), before = false;
  SmallVector<int64_t> sizes, merged;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    bool isReduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
    if (axis > 0 && isReduced == before && (isReduced ? mergesReduced : mergesKept)) {
      sizes.back() *= size;
      continue;
    }
    before = isReduced;
    if (isReduced)
      merged.push_back(sizes.size());
    sizes.push_back(size);
  }
  if (sizes.size() == type.getShape().size())
    return input;
  axes = std::move(merged);
  return ReshapeOp::create(rewriter, op.getLoc(), type.clone(sizes), input, ValueRange(), PermissionsAttr());
}

namespace {
template <typename ReduceOp> struct ReduceOneAxisAtATime : NumericsPattern<ReduceOp> {
  explicit ReduceOneAxisAtATime(MLIRContext *context)
      : NumericsPattern<ReduceOp>(context, "reduce-one-axis-at-a-time") {}

  LogicalResult match(ReduceOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (op.getAxes().size() == 1 && !(readsMemory(op) && keepsShortLastAxes(op)))
      return rewriter.notifyMatchFailure(op, "expected several axes, or short ones next to the reduced one");
    return success();
  }

  void rewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> axes(op.getAxes());
    Value value = mergeAxes(op, rewriter, axes);
    Type element = elementBetween<ReduceOp>(cast<RankedTensorType>(value.getType()).getElementType());
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    for (int64_t axis : fromLastToFirst(axes)) {
      // A reduction over one axis has the order that is written, whichever axis it is.
      OrderAttr order =
          op.getAxes().size() == 1 ? op.getOrderAttr() : orderOfStep(op.getOrderAttr(), axis, rank);
      value = reduceAxis<ReduceOp>(rewriter, op.getLoc(), value, axis, element, order);
    }
    if (op.getAxes().empty())
      value = castTo(rewriter, op.getLoc(), value, accumulatorType(element));
    rewriter.replaceOp(op, toType(rewriter, op.getLoc(), value, cast<RankedTensorType>(op.getType()),
                                  [&] { return dynamicSizes(rewriter, op.getLoc(), value); }));
  }
};

struct MeanAsSum : NumericsPattern<ReduceMeanOp> {
  explicit MeanAsSum(MLIRContext *context) : NumericsPattern(context, "mean-as-sum") {}

  LogicalResult match(ReduceMeanOp, SmallVectorImpl<Operation *> &, PatternRewriter &) const override {
    return success();
  }

  void rewrite(ReduceMeanOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Type element = accumulatorType(type.getElementType());
    Value sum = ReduceSumOp::create(rewriter, loc, type.clone(element), op.getInput(), op.getAxes(),
                                    op.getKeepDims(), op.getOrderAttr(), PermissionsAttr());
    Value mean = DivOp::create(rewriter, loc, sum, count(op, sum, rewriter), PermissionsAttr());
    rewriter.replaceOp(op, castTo(rewriter, loc, mean, type.getElementType()));
  }

  // The number of summed elements in every element of a tensor like `sum`.
  static Value count(ReduceMeanOp op, Value sum, OpBuilder &builder) {
    Location loc = op.getLoc();
    auto input = cast<RankedTensorType>(op.getInput().getType());
    int64_t known = 1;
    Value unknown;
    for (int64_t axis : op.getAxes()) {
      if (!input.isDynamicDim(axis)) {
        known *= input.getDimSize(axis);
        continue;
      }
      Value size = tensor::DimOp::create(builder, loc, op.getInput(), axis);
      unknown = unknown ? arith::MulIOp::create(builder, loc, unknown, size) : size;
    }
    if (!unknown)
      return fullLike(builder, loc, sum, static_cast<double>(known));
    if (known != 1)
      unknown =
          arith::MulIOp::create(builder, loc, unknown, arith::ConstantIndexOp::create(builder, loc, known));
    auto type = cast<RankedTensorType>(sum.getType());
    Value integer = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), unknown);
    Value scalar = arith::SIToFPOp::create(builder, loc, type.getElementType(), integer);
    return FullOp::create(builder, loc, type, scalar, dynamicSizes(builder, loc, sum), PermissionsAttr());
  }
};
} // namespace

void ad::populateDecomposeReductionPatterns(RewritePatternSet &patterns) {
  patterns.add<ReduceOneAxisAtATime<ReduceSumOp>, ReduceOneAxisAtATime<ReduceProdOp>,
               ReduceOneAxisAtATime<ReduceMaxOp>, ReduceOneAxisAtATime<ReduceMinOp>, MeanAsSum>(
      patterns.getContext());
  populateDecomposeSumToShapePatterns(patterns);
}
