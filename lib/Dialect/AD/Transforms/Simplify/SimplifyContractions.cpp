// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Larger contractions from smaller operations. A product with a bias or a factor is an ad.gemm, which rounds
// once; that needs permissions. A product between two reshapes is one over more axes, with the same bits.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// A product of two matrices without a bias, as ad.dot or ad.gemm, for a new ad.gemm.
struct MatrixProduct {
  Operation *op;
  Value lhs, rhs;
  bool transA, transB;
  APFloat alpha;
  OrderAttr order;

  static std::optional<MatrixProduct> of(Operation *op) {
    if (!op || !op->hasOneUse())
      return std::nullopt;
    if (auto gemm = dyn_cast<GemmOp>(op); gemm && !gemm.getBias())
      return MatrixProduct{op,
                           gemm.getLhs(),
                           gemm.getRhs(),
                           gemm.getTransA(),
                           gemm.getTransB(),
                           gemm.getAlpha(),
                           gemm.getOrderAttr()};
    auto dot = dyn_cast<DotOp>(op);
    if (!dot || !isa<FloatType>(dot.getType().getElementType()) || !dot.getLhsBatch().empty() ||
        dot.getLhsContract().size() != 1 || dot.getLhs().getType().getRank() != 2 ||
        dot.getRhs().getType().getRank() != 2)
      return std::nullopt;
    return MatrixProduct{op,
                         dot.getLhs(),
                         dot.getRhs(),
                         dot.getLhsContract()[0] == 0,
                         dot.getRhsContract()[0] == 1,
                         APFloat(1.0),
                         dot.getOrderAttr()};
  }

  GemmOp build(OpBuilder &builder, Location loc, Value bias) const {
    auto made = GemmOp::create(builder, loc, op->getResult(0).getType(), lhs, rhs, bias, transA, transB,
                               alpha, APFloat(1.0), order, PermissionsAttr());
    keepInstruction(op, made);
    return made;
  }
};

// The result of a contraction is rounded to this type before other operations read it.
bool roundsResult(Value product) {
  Type element = getElementTypeOrSelf(product.getType());
  return element != computeType(element);
}

// gemm + bias is rounded once. Of f32 and f64 the sum is not rounded before, and nothing is gained. Of ad.dot
// it is add-bias-in-accumulator, which covers all ranks.
struct AddBiasInGemm : NumericsPattern<AddOp> {
  explicit AddBiasInGemm(MLIRContext *context)
      : NumericsPattern(context, "add-bias-in-gemm", Permissions::widen) {}

  // The product among the operands, and the other operand.
  static std::pair<std::optional<MatrixProduct>, Value> parts(AddOp op) {
    if (auto gemm = op.getLhs().getDefiningOp<GemmOp>())
      if (auto product = MatrixProduct::of(gemm))
        return {product, op.getRhs()};
    return {MatrixProduct::of(op.getRhs().getDefiningOp<GemmOp>()), op.getLhs()};
  }

  LogicalResult match(AddOp op, SmallVectorImpl<Operation *> &touched,
                      PatternRewriter &rewriter) const override {
    std::optional<MatrixProduct> product = parts(op).first;
    if (!product)
      return rewriter.notifyMatchFailure(op,
                                         "expected an ad.gemm without a bias and other users as an operand");
    if (!roundsResult(op) || product->op->getResult(0).getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "expected a product that is rounded to the type of the sum");
    touched.push_back(product->op);
    return success();
  }

  void rewrite(AddOp op, PatternRewriter &rewriter) const override {
    auto [product, bias] = parts(op);
    rewriter.replaceOp(op, product->build(rewriter, op.getLoc(), bias));
  }
};

// The number that all elements of the constant are.
std::optional<APFloat> constantFactor(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat() || !isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  return dense.getSplatValue<APFloat>();
}

// product * c and product / c are rounded once, with c or 1 / c as alpha.
template <typename OpTy> struct ScaleInGemm : NumericsPattern<OpTy> {
  ScaleInGemm(MLIRContext *context, StringRef name, Permissions needed)
      : NumericsPattern<OpTy>(context, name, needed, /*benefit=*/2) {}

  static constexpr bool isQuotient = std::is_same_v<OpTy, DivOp>;

  // In the accumulator's type, as a double, which holds it.
  static std::optional<APFloat> alpha(OpTy op) {
    std::optional<APFloat> factor = constantFactor(op.getRhs());
    if (!factor || !factor->isFiniteNonZero())
      return std::nullopt;
    bool lost = false;
    auto accumulator = cast<FloatType>(accumulatorType(getElementTypeOrSelf(op.getType())));
    factor->convert(accumulator.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    if (isQuotient) {
      APFloat inverse(factor->getSemantics(), 1);
      inverse.divide(*factor, APFloat::rmNearestTiesToEven);
      factor = inverse;
    }
    if (!factor->isNormal())
      return std::nullopt;
    factor->convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return factor;
  }

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &touched,
                      PatternRewriter &rewriter) const override {
    std::optional<MatrixProduct> product = MatrixProduct::of(op.getLhs().getDefiningOp());
    if (!product || !product->alpha.isExactlyValue(1.0))
      return rewriter.notifyMatchFailure(
          op, "expected a product of matrices without a factor as the left operand");
    if (product->op->getResult(0).getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "expected the type of the product");
    if (roundsResult(op) != allows(this->permissions(), Permissions::widen))
      return rewriter.notifyMatchFailure(op, "expected a product that is rounded, or one that is not");
    if (!alpha(op))
      return rewriter.notifyMatchFailure(op, "expected a constant whose inverse is a normal number");
    touched.push_back(product->op);
    return success();
  }

  void rewrite(OpTy op, PatternRewriter &rewriter) const override {
    std::optional<MatrixProduct> product = MatrixProduct::of(op.getLhs().getDefiningOp());
    product->alpha = *alpha(op);
    rewriter.replaceOp(op, product->build(rewriter, op.getLoc(), Value()));
  }
};

// reshape(dot(reshape(x), w)) is dot(x, w) where the first reshape merges free axes and the last one splits
// them again: the free axes of a contraction may be as many as one likes.
struct FoldReshapesIntoDot : NumericsPattern<ReshapeOp> {
  explicit FoldReshapesIntoDot(MLIRContext *context) : NumericsPattern(context, "fold-reshapes-into-dot") {}

  // Whether two values have the sizes of `count` axes, from these axes on.
  static bool sameSizes(Value lhs, int64_t left, Value rhs, int64_t right, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (cast<RankedTensorType>(lhs.getType()).getDimSize(left + i) !=
              cast<RankedTensorType>(rhs.getType()).getDimSize(right + i) ||
          !haveSameSize(lhs, left + i, rhs, right + i))
        return false;
    return true;
  }

  LogicalResult match(ReshapeOp op, SmallVectorImpl<Operation *> &,
                      PatternRewriter &rewriter) const override {
    auto dot = op.getInput().getDefiningOp<DotOp>();
    if (!dot || !dot->hasOneUse() || !dot.getLhsBatch().empty() ||
        dot.getLhsContract() != ArrayRef<int64_t>{1})
      return rewriter.notifyMatchFailure(op, "expected a product of rows without other users");
    auto merge = dot.getLhs().getDefiningOp<ReshapeOp>();
    if (!merge || merge.getType().getRank() != 2)
      return rewriter.notifyMatchFailure(op, "expected rows that are merged by a reshape");
    Value x = merge.getInput();
    int64_t merged = cast<RankedTensorType>(x.getType()).getRank() - 1, columns = dot.getType().getRank() - 1;
    if (merged < 1 || op.getType().getRank() != merged + columns)
      return rewriter.notifyMatchFailure(op, "expected a result with the axes that were merged");
    if (!sameSizes(x, 0, op, 0, merged) || !sameSizes(x, merged, merge, 1, 1) ||
        !sameSizes(dot, 1, op, merged, columns))
      return rewriter.notifyMatchFailure(op, "expected the sizes of the axes that were merged");
    return success();
  }

  void rewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getInput().getDefiningOp<DotOp>();
    Value x = dot.getLhs().getDefiningOp<ReshapeOp>().getInput();
    int64_t last = cast<RankedTensorType>(x.getType()).getRank() - 1;
    auto made = DotOp::create(rewriter, op.getLoc(), op.getType(), x, dot.getRhs(), ArrayRef<int64_t>{},
                              ArrayRef<int64_t>{}, ArrayRef<int64_t>{last}, dot.getRhsContract(),
                              dot.getOrderAttr(), dot.getAllowAttr());
    keepInstruction(dot, made);
    rewriter.replaceOp(op, made);
  }
};
} // namespace

void ad::populateContractionPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<AddBiasInGemm, FoldReshapesIntoDot>(context);
  patterns.add<ScaleInGemm<MulOp>>(context, "scale-in-gemm", Permissions::widen);
  patterns.add<ScaleInGemm<DivOp>>(context, "divide-in-gemm", Permissions::algebra);
  patterns.add<ScaleInGemm<DivOp>>(context, "divide-in-narrow-gemm",
                                   Permissions::algebra | Permissions::widen);
}
