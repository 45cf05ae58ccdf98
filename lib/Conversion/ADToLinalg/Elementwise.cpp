// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise and creation operations to linalg.

#include "ADToLinalg.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// All operands have the result's shape.
struct LowerElementwise : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ElementwiseOpInterface op, PatternRewriter &rewriter) const override {
    OpResult result = op->getResult(0);
    ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
    for (Value operand : op->getOperands())
      if (cast<RankedTensorType>(operand.getType()).getRank() != int64_t(shape.size()))
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

  // Elementary functions take their shorter form where the operation has the permission `approx`.
  static void approximateFunctions(Operation *op, Operation *lowered) {
    auto contract = dyn_cast<NumericsOpInterface>(op);
    if (!contract || !bitEnumContainsAll(contract.getPermissions(), Permissions::approx))
      return;
    lowered->walk([&](ElementaryOp function) {
      if (!function.getType().isF32() || !numerics::hasApproximation(function.getFunction()))
        return;
      function.setApproximate(true);
      recordNumericsUse(op->getLoc(), "approximate-function", Permissions::approx);
    });
  }
};

struct LowerFull : OpRewritePattern<FullOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FullOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getLoc(), op->getResult(0));
    rewriter.replaceOp(op, fillTensor(rewriter, op.getLoc(), init, op.getValue()));
    return success();
  }
};

// A splat inside a fusion is a scalar of the code.
struct LowerSplatConstant : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConstantOp op, PatternRewriter &rewriter) const override {
    auto value = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!value)
      return rewriter.notifyMatchFailure(op, "expected a splat: other constants are operands of fusions");
    Value scalar =
        arith::ConstantOp::create(rewriter, op.getLoc(), cast<TypedAttr>(value.getSplatValue<Attribute>()));
    Value init = emptyLike(rewriter, op.getLoc(), op->getResult(0));
    rewriter.replaceOp(op, fillTensor(rewriter, op.getLoc(), init, scalar));
    return success();
  }
};

struct LowerIota : OpRewritePattern<IotaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IotaOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value init = emptyLike(rewriter, loc, op->getResult(0));
    Type element = getElementTypeOrSelf(init);
    Value result = elementwiseGeneric(rewriter, loc, {}, init, [&](OpBuilder &builder, ValueRange) {
      Value index = linalg::IndexOp::create(builder, loc, op.getAxis());
      Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
      return convertScalar(builder, loc, wide, element);
    });
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void ad::populateElementwiseToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerElementwise, LowerFull, LowerSplatConstant, LowerIota>(patterns.getContext());
}
