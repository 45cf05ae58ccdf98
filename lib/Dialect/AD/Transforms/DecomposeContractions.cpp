// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad.scaled_dot as the steps of its meaning, and contractions over adjacent axes as contractions over one.
// Bit-exact: an ad.dot counts its contracted axes as one, the last listed fastest, which is the order of the
// elements in memory.

#include "DecompositionSteps.h"
#include "adjoint/Dialect/AD/IR/ScaledDot.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

// Whether the product of the sizes is known only at run time, or a number.
static bool canMultiply(int64_t a, int64_t b) {
  int64_t product;
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || !llvm::MulOverflow(a, b, product);
}

// The number of a pair of contracted axes that the next pair follows in both operands. Dynamic
// sizes must provably be the same: the run-time check of merged axes compares only their product.
static std::optional<size_t> firstPairToMerge(DotOp op) {
  ArrayRef<int64_t> left = op.getLhsContract(), right = op.getRhsContract();
  auto same = [&](size_t pair) { return haveSameSize(op.getLhs(), left[pair], op.getRhs(), right[pair]); };
  for (size_t pair = 0; pair + 1 < left.size(); ++pair)
    if (left[pair] + 1 == left[pair + 1] && right[pair] + 1 == right[pair + 1] && same(pair) &&
        same(pair + 1) &&
        canMultiply(op.getLhs().getType().getDimSize(left[pair]),
                    op.getLhs().getType().getDimSize(left[pair + 1])))
      return pair;
  return std::nullopt;
}

// The tensor with the axis and the next one merged. Sizes that its type leaves open stay open, also
// those that are constants: the result of the contraction has a type already.
static Value mergeAxes(OpBuilder &builder, Location loc, Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  SmallVector<Value> unknown;
  auto sizeAt = [&](int64_t i) {
    return getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, tensor, i));
  };
  for (int64_t i = 0; i < type.getRank(); ++i) {
    bool merges = i == axis;
    bool isOpen = type.isDynamicDim(i) || (merges && type.isDynamicDim(i + 1));
    int64_t next = merges ? type.getDimSize(i + 1) : 1;
    shape.push_back(isOpen ? ShapedType::kDynamic : type.getDimSize(i) * next);
    if (isOpen)
      unknown.push_back(merges ? builder.createOrFold<arith::MulIOp>(loc, sizeAt(i), sizeAt(i + 1))
                               : sizeAt(i));
    if (merges)
      ++i;
  }
  return ReshapeOp::create(builder, loc, type.clone(shape), tensor, unknown, PermissionsAttr());
}

// Axes of an operand in which `axis` and the next one are merged.
static SmallVector<int64_t> withMergedAxes(ArrayRef<int64_t> axes, int64_t axis) {
  SmallVector<int64_t> merged;
  for (int64_t other : axes)
    if (other != axis + 1)
      merged.push_back(other > axis ? other - 1 : other);
  return merged;
}

namespace {
struct MergeContractedAxes : NumericsPattern<DotOp> {
  explicit MergeContractedAxes(MLIRContext *context) : NumericsPattern(context, "merge-contracted-axes") {}

  LogicalResult match(DotOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!firstPairToMerge(op))
      return rewriter.notifyMatchFailure(op,
                                         "expected contracted axes that follow each other in both operands");
    return success();
  }

  void rewrite(DotOp op, PatternRewriter &rewriter) const override {
    size_t pair = *firstPairToMerge(op);
    int64_t left = op.getLhsContract()[pair], right = op.getRhsContract()[pair];
    Value lhs = mergeAxes(rewriter, op.getLoc(), op.getLhs(), left);
    Value rhs = mergeAxes(rewriter, op.getLoc(), op.getRhs(), right);
    auto made =
        DotOp::create(rewriter, op.getLoc(), op.getType(), lhs, rhs, withMergedAxes(op.getLhsBatch(), left),
                      withMergedAxes(op.getRhsBatch(), right), withMergedAxes(op.getLhsContract(), left),
                      withMergedAxes(op.getRhsContract(), right), op.getOrderAttr(), op.getAllowAttr());
    keepInstruction(op, made);
    rewriter.replaceOp(op, made);
  }
};

// What no one reads is not computed.
struct DecomposeScaledDot : NumericsPattern<ScaledDotOp> {
  explicit DecomposeScaledDot(MLIRContext *context) : NumericsPattern(context, "decompose") {}

  LogicalResult match(ScaledDotOp, SmallVectorImpl<Operation *> &, PatternRewriter &) const override {
    return success();
  }

  void rewrite(ScaledDotOp op, PatternRewriter &rewriter) const override {
    Steps steps(rewriter, op);
    Location loc = steps.loc;
    Type f32 = rewriter.getF32Type();
    Operand lhs(op, 0, rewriter, loc), rhs(op, 1, rewriter, loc);
    Type sumType = op.getResult().getType().clone(f32);
    Value sum =
        DotOp::create(rewriter, loc, sumType, lhs.rounded, rhs.rounded, op.getLhsBatch(), op.getRhsBatch(),
                      op.getLhsContract(), op.getRhsContract(), op.getOrderAttr(), op.getAllowAttr());
    auto inverse = [&](Value scale) -> Value {
      Value one = scalarConstant(rewriter, loc, f32, 1.0);
      return DivOp::create(rewriter, loc, one, scale, PermissionsAttr());
    };
    Value factor = MulOp::create(rewriter, loc, inverse(lhs.scale), inverse(rhs.scale), PermissionsAttr());
    Value product = MulOp::create(rewriter, loc, sum, factor, PermissionsAttr());
    Value result = castTo(rewriter, loc, product, op.getResult().getType().getElementType());
    // A result that no one reads is replaced by any value of its type.
    rewriter.replaceOp(op, {result, lhs.largest ? lhs.largest : factor, rhs.largest ? rhs.largest : factor});
  }

private:
  struct Operand {
    Operand(ScaledDotOp op, unsigned number, OpBuilder &builder, Location loc) {
      Value value = op->getOperand(number);
      Type type = number == 0 ? op.getLhsType() : op.getRhsType();
      bool isGiven = !op.getScales().empty();
      if (!isGiven || !op->getResult(number + 1).use_empty())
        largest = largestMagnitude(builder, loc, value);
      scale = isGiven ? op.getScales()[number] : scaleOfMagnitude(builder, loc, largest, type);
      rounded = roundScaled(builder, loc, value, scale, type);
    }
    Value largest, scale, rounded;
  };
};
} // namespace

void ad::populateDecomposeContractionPatterns(RewritePatternSet &patterns) {
  patterns.add<MergeContractedAxes, DecomposeScaledDot>(patterns.getContext());
}
