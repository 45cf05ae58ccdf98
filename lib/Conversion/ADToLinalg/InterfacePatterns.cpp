// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Linalg from interfaces: operations of any dialect that implement them become loops here, without a pattern
// of their own.

#include "ADToLinalg.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// Scalar code over operands that all have the result's shape.
struct LowerElementwise : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ElementwiseOpInterface op, PatternRewriter &rewriter) const override {
    OpResult result = op->getResult(0);
    int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
    for (Value operand : op->getOperands())
      if (cast<RankedTensorType>(operand.getType()).getRank() != rank)
        return rewriter.notifyMatchFailure(
            op, "expected operands of the result's shape; run ad-set-numerics first");
    Value init = emptyLike(rewriter, op->getLoc(), result);
    Value lowered = elementwiseGeneric(rewriter, op->getLoc(), op->getOperands(), init,
                                       [&](OpBuilder &builder, ValueRange scalars) {
                                         return op.emitScalar(builder, op->getLoc(), scalars);
                                       });
    approximateFunctions(op, lowered.getDefiningOp());
    rewriter.replaceOp(op, lowered);
    return success();
  }

  // Elementary functions have their shorter form where the operation has the permission `approx`.
  static void approximateFunctions(Operation *op, Operation *lowered) {
    if (!allows(op, Permissions::approx))
      return;
    lowered->walk([&](ElementaryOp function) {
      if (!function.getType().isF32() || !numerics::hasApproximation(function.getFunction()))
        return;
      if (!allowsRewrite("approximate-function", Permissions::approx, op))
        return;
      function.setApproximate(true);
      recordNumericsUse(op->getLoc(), "approximate-function", Permissions::approx);
    });
  }
};
} // namespace

namespace {
// One loop that combines values in an accumulator; `ad-decompose` has made several axes and means into these.
struct LowerReduction : OpInterfaceRewritePattern<ReductionOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ReductionOpInterface op, PatternRewriter &rewriter) const override {
    auto fusable = dyn_cast<FusableOpInterface>(op.getOperation());
    if (!fusable || llvm::count(fusable.getIteratorTypes(), utils::IteratorType::reduction) != 1)
      return rewriter.notifyMatchFailure(op, "expected one axis; run ad-decompose first");
    Location loc = op->getLoc();
    OpResult result = op->getResult(0);
    Combiner combiner = op.getCombiner();
    Type accumulator = combiningType(combiner, getElementTypeOrSelf(op->getOperand(0)));
    Value identity = identityOf(rewriter, loc, combiner, accumulator);
    Value init = fillTensor(rewriter, loc, emptyLike(rewriter, loc, result, accumulator), identity);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, init.getType(), op->getOperands(), init, fusable.getAccessMaps(),
        fusable.getIteratorTypes(), [&](OpBuilder &builder, Location nested, ValueRange scalars) {
          Value value = op.emitElement(builder, nested, scalars.drop_back());
          value = convertScalar(builder, nested, value, accumulator);
          linalg::YieldOp::create(builder, nested,
                                  combineScalars(builder, nested, combiner, scalars.back(), value));
        });
    rewriter.replaceOp(op, roundTo(rewriter, result, generic.getResult(0)));
    return success();
  }
};

// Each element of the result is one of the input, at an affine function of its indices.
struct LowerAffineView : OpInterfaceRewritePattern<FusableOpInterface> {
  LowerAffineView(MLIRContext *context) : OpInterfaceRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(FusableOpInterface op, PatternRewriter &rewriter) const override {
    if (op.getViewKind() == ViewKind::none || !isa<RankedTensorType>(op->getOperand(0).getType()))
      return rewriter.notifyMatchFailure(op, "expected a view of a tensor");
    SmallVector<AffineMap> maps = op.getAccessMaps();
    if (!maps.front())
      return rewriter.notifyMatchFailure(op, "expected indices that are known when compiling");
    Value init = emptyLike(rewriter, op->getLoc(), op->getResult(0));
    auto generic = linalg::GenericOp::create(rewriter, op->getLoc(), init.getType(), op->getOperand(0), init,
                                             maps, op.getIteratorTypes(),
                                             [](OpBuilder &nested, Location loc, ValueRange scalars) {
                                               linalg::YieldOp::create(nested, loc, scalars[0]);
                                             });
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }
};

// A splat inside a fusion is a scalar of the code; other constants are operands of fusions.
struct LowerSplatConstant : RewritePattern {
  LowerSplatConstant(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    SplatElementsAttr value;
    if (!op->hasTrait<OpTrait::ConstantLike>() || !matchPattern(op, m_Constant(&value)) ||
        !isa<RankedTensorType>(op->getResult(0).getType()))
      return rewriter.notifyMatchFailure(op, "expected a constant tensor with one value");
    Location loc = op->getLoc();
    Value scalar =
        arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(value.getSplatValue<Attribute>()));
    rewriter.replaceOp(op, fillTensor(rewriter, loc, emptyLike(rewriter, loc, op->getResult(0)), scalar));
    return success();
  }
};

struct LowerByModel : OpInterfaceRewritePattern<LinalgLoweringOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(LinalgLoweringOpInterface op, PatternRewriter &rewriter) const override {
    Value lowered = op.lowerToLinalg(rewriter);
    if (!lowered)
      return rewriter.notifyMatchFailure(op, "expected a form that has code");
    rewriter.replaceOp(op, lowered);
    return success();
  }
};
} // namespace

void ad::populateInterfacesToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerElementwise, LowerReduction, LowerAffineView, LowerSplatConstant, LowerByModel>(
      patterns.getContext());
  populateLoopNestsToLinalgPatterns(patterns);
}
