// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Canonical forms of elementwise operations. Every rewrite keeps the bits of every result and the root's
// permissions.

#include "../Elementwise.h"
#include "../ExactPattern.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::ad;

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

namespace {
/// cast(cast(x)) is one cast when the inner one loses nothing.
struct ComposeCasts : ExactPattern<CastOp> {
  explicit ComposeCasts(MLIRContext *context) : ExactPattern<CastOp>(context, "compose-casts") {}

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<CastOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "expected a cast of a cast");
    Type from = elementOf(inner.getInput()), between = elementOf(inner), to = elementOf(op);
    if (!holdsExactly(from, between))
      return rewriter.notifyMatchFailure(op, "expected an inner cast that loses nothing");
    // Floats saturate where integers wrap, and a cast to f8E5M2 converts infinity to the largest number.
    if (isa<IntegerType>(from) && isa<FloatType>(between) && isa<IntegerType>(to) && !holdsExactly(from, to))
      return rewriter.notifyMatchFailure(op, "expected integers to stay integers");
    if (from == to && !keepsEveryValue(to))
      return rewriter.notifyMatchFailure(op, "expected a type that keeps infinities");
    if (failed(this->requireAllowed(rewriter, op)))
      return failure();
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), inner.getInput(), op.getAllowAttr());
    return success();
  }
};

/// x + -y is x - y, and x - -y is x + y.
template <class From, class To> struct AbsorbNegation : ExactPattern<From> {
  explicit AbsorbNegation(MLIRContext *context) : ExactPattern<From>(context, "absorb-negation") {}

  LogicalResult matchAndRewrite(From op, PatternRewriter &rewriter) const override {
    if (!keepsEveryValue(elementOf(op)))
      return rewriter.notifyMatchFailure(op, "expected a type that keeps infinities");
    Value lhs = op.getLhs(), rhs = op.getRhs();
    if constexpr (std::is_same_v<From, AddOp>)
      if (!rhs.getDefiningOp<NegOp>())
        std::swap(lhs, rhs);
    auto negation = rhs.getDefiningOp<NegOp>();
    if (!negation)
      return rewriter.notifyMatchFailure(op, "expected a negated operand");
    if (failed(this->requireAllowed(rewriter, op)))
      return failure();
    rewriter.replaceOpWithNewOp<To>(op, lhs, negation.getInput(), op.getAllowAttr());
    return success();
  }
};

/// -x * -y is x * y, and the same for quotients.
template <class OpT> struct CancelNegations : ExactPattern<OpT> {
  explicit CancelNegations(MLIRContext *context) : ExactPattern<OpT>(context, "cancel-negations") {}

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().template getDefiningOp<NegOp>();
    auto rhs = op.getRhs().template getDefiningOp<NegOp>();
    if (!lhs || !rhs)
      return rewriter.notifyMatchFailure(op, "expected two negated operands");
    // Wrapping quotients differ: -MIN is MIN, and so is MIN / -1.
    if (!keepsEveryValue(elementOf(op)) || (isa<DivOp>(op.getOperation()) && isa<IntegerType>(elementOf(op))))
      return rewriter.notifyMatchFailure(op, "expected floats that keep infinities, or a product");
    if (failed(this->requireAllowed(rewriter, op)))
      return failure();
    rewriter.replaceOpWithNewOp<OpT>(op, lhs.getInput(), rhs.getInput(), op.getAllowAttr());
    return success();
  }
};

/// x * -1 and x / -1 are -x.
template <class OpT> struct UseNegation : ExactPattern<OpT> {
  explicit UseNegation(MLIRContext *context) : ExactPattern<OpT>(context, "use-negation") {}

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    DenseElementsAttr factor;
    if (!matchPattern(op.getRhs(), m_Constant(&factor)) || !factor.isSplat() || !isMinusOne(factor))
      return rewriter.notifyMatchFailure(op, "expected -1 everywhere as the right operand");
    if (!keepsEveryValue(elementOf(op)) || op.getLhs().getType() != op.getType())
      return rewriter.notifyMatchFailure(
          op, "expected a left operand of the result's type that keeps infinities");
    if (failed(this->requireAllowed(rewriter, op)))
      return failure();
    rewriter.replaceOpWithNewOp<NegOp>(op, op.getLhs(), op.getAllowAttr());
    return success();
  }

  static bool isMinusOne(DenseElementsAttr attr) {
    if (isa<IntegerType>(attr.getElementType()))
      return attr.getSplatValue<APInt>().isAllOnes();
    APFloat value = attr.getSplatValue<APFloat>();
    return value.isExactlyValue(-1.0);
  }
};

/// x / 2^k is x * 2^-k: both round the same real number.
struct MultiplyByExactInverse : ExactPattern<DivOp> {
  explicit MultiplyByExactInverse(MLIRContext *context)
      : ExactPattern<DivOp>(context, "multiply-by-exact-inverse") {}

  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr divisor;
    if (!isa<FloatType>(elementOf(op)) || !matchPattern(op.getRhs(), m_Constant(&divisor)) ||
        !divisor.isSplat())
      return rewriter.notifyMatchFailure(op, "expected a constant float everywhere as the right operand");
    APFloat value = divisor.getSplatValue<APFloat>(), inverse = value;
    if (!value.getExactInverse(&inverse) || inverse.isDenormal())
      return rewriter.notifyMatchFailure(op, "expected a divisor whose inverse is exact");
    if (failed(this->requireAllowed(rewriter, op)))
      return failure();
    Value factor = ConstantOp::create(rewriter, op.getRhs().getLoc(),
                                      DenseElementsAttr::get(divisor.getType(), inverse));
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), factor, op.getAllowAttr());
    return success();
  }
};
} // namespace

void CastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeCasts>(context);
}

void AddOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AbsorbNegation<AddOp, SubOp>>(context);
}

void SubOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AbsorbNegation<SubOp, AddOp>>(context);
}

void MulOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CancelNegations<MulOp>, UseNegation<MulOp>>(context);
}

void DivOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CancelNegations<DivOp>, UseNegation<DivOp>, MultiplyByExactInverse>(context);
}
