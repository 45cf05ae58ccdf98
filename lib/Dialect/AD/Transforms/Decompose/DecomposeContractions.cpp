// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// ad.scaled_dot as the steps of its meaning, and contractions over several axes as contractions over one,
// which an operand is transposed for where its contracted axes are apart. Bit-exact: an ad.dot counts its
// contracted axes as one, the last listed fastest, which is the order of the elements in memory.

#include "../ContractedAxes.h"
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

// How often a product reads each element of an operand, from where on a transposition pays.
static constexpr int64_t kMinReads = 16;

// Whether a pair of contracted axes and the next one can be one axis.
static bool canMergeSizes(DotOp op, size_t pair) {
  auto canMerge = [&](TypedValue<RankedTensorType> operand, ArrayRef<int64_t> axes) {
    return canMultiply(operand.getType().getDimSize(axes[pair]),
                       operand.getType().getDimSize(axes[pair + 1]));
  };
  return canMerge(op.getLhs(), op.getLhsContract()) && canMerge(op.getRhs(), op.getRhsContract());
}

// The number of a pair of contracted axes that the next pair follows in both operands.
static std::optional<size_t> firstPairToMerge(DotOp op) {
  ArrayRef<int64_t> left = op.getLhsContract(), right = op.getRhsContract();
  for (size_t pair = 0; pair + 1 < left.size(); ++pair)
    if (left[pair] + 1 == left[pair + 1] && right[pair] + 1 == right[pair + 1] && canMergeSizes(op, pair))
      return pair;
  return std::nullopt;
}

// Whether each contracted axis of an operand follows the one that is listed before it.
static bool areInOrder(ArrayRef<int64_t> contracted) {
  for (size_t i = 1; i < contracted.size(); ++i)
    if (contracted[i] != contracted[i - 1] + 1)
      return false;
  return true;
}

// The elements along the free axes of an operand; dynamic sizes count as many.
static bool hasManyFreeElements(Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted) {
  int64_t count = 1;
  for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(operand.getType()).getShape()))
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contracted, axis) && count < kMinReads)
      count *= ShapedType::isDynamic(size) ? kMinReads : size;
  return count >= kMinReads;
}

// Whether each operand whose contracted axes are apart is read often.
static bool paysToTranspose(DotOp op) {
  return (areInOrder(op.getLhsContract()) ||
          hasManyFreeElements(op.getRhs(), op.getRhsBatch(), op.getRhsContract())) &&
         (areInOrder(op.getRhsContract()) ||
          hasManyFreeElements(op.getLhs(), op.getLhsBatch(), op.getLhsContract()));
}

// Whether all contracted axes can be one axis, by their sizes.
static bool canMergeAllSizes(DotOp op) {
  for (size_t pair = 0; pair + 1 < op.getLhsContract().size(); ++pair)
    if (!canMergeSizes(op, pair))
      return false;
  return true;
}

bool ad::contractsOneAxis(DotOp op) {
  return !op.getLhsContract().empty() && paysToTranspose(op) && canMergeAllSizes(op);
}

// The axes of an operand, the contracted ones last and in the listed order.
static SmallVector<int64_t> contractedLast(int64_t rank, ArrayRef<int64_t> contracted) {
  SmallVector<int64_t> order;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(contracted, axis))
      order.push_back(axis);
  llvm::append_range(order, contracted);
  return order;
}

// Reshapes the tensor so that `axis` and the next axis become one. A dynamic axis stays dynamic even if its
// size folds to a constant, because the contraction keeps the result type that it had.
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
/// x[b,h,t,e] times w[h,e,d] over h and e becomes x[b,t,h,e] times w[h,e,d], whose contracted axes can be
/// merged.
struct TransposeContractedAxes : NumericsPattern<DotOp> {
  explicit TransposeContractedAxes(MLIRContext *context)
      : NumericsPattern(context, "transpose-contracted-axes") {}

  LogicalResult match(DotOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (areInOrder(op.getLhsContract()) && areInOrder(op.getRhsContract()))
      return rewriter.notifyMatchFailure(op, "expected contracted axes that are apart in an operand");
    if (!paysToTranspose(op))
      return rewriter.notifyMatchFailure(op, "expected an operand whose elements are read often");
    if (!canMergeAllSizes(op))
      return rewriter.notifyMatchFailure(op, "expected contracted axes whose sizes have a product");
    return success();
  }

  void rewrite(DotOp op, PatternRewriter &rewriter) const override {
    // An error names the axes that the program has.
    Steps steps(rewriter, op);
    for (auto [left, right] : llvm::zip_equal(op.getLhsContract(), op.getRhsContract()))
      steps.requireSize(op.getLhs(), left, op.getRhs(), right);
    Side lhs(op.getLhs(), op.getLhsBatch(), op.getLhsContract(), rewriter);
    Side rhs(op.getRhs(), op.getRhsBatch(), op.getRhsContract(), rewriter);
    auto made = DotOp::create(rewriter, op.getLoc(), op.getType(), lhs.value, rhs.value, lhs.batch, rhs.batch,
                              lhs.contracted, rhs.contracted, op.getOrderAttr(), op.getAllowAttr());
    keepInstruction(op, made);
    rewriter.replaceOp(op, made);
  }

private:
  /// An operand whose contracted axes are in order.
  struct Side {
    Side(Value operand, ArrayRef<int64_t> oldBatch, ArrayRef<int64_t> oldContracted, OpBuilder &builder)
        : value(operand), batch(oldBatch), contracted(oldContracted) {
      if (areInOrder(contracted))
        return;
      auto type = cast<RankedTensorType>(operand.getType());
      SmallVector<int64_t> order = contractedLast(type.getRank(), contracted);
      value = TransposeOp::create(builder, operand.getLoc(), operand, order, PermissionsAttr());
      for (SmallVector<int64_t> *axes : {&batch, &contracted})
        for (int64_t &axis : *axes)
          axis = llvm::find(order, axis) - order.begin();
    }
    Value value;
    SmallVector<int64_t> batch, contracted;
  };
};

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
    // What checks the merged axes sees only the product of their sizes.
    Steps steps(rewriter, op);
    for (int64_t next : {0, 1})
      steps.requireSize(op.getLhs(), left + next, op.getRhs(), right + next);
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
  patterns.add<TransposeContractedAxes, MergeContractedAxes, DecomposeScaledDot>(patterns.getContext());
}
