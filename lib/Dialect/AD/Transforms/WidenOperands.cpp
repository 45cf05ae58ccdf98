// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of narrow floats as contractions of f32, whose operands are converted before. The kernel would
// convert an element again for every register tile that reads it.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-widen-operands"

namespace mlir::ad {
#define GEN_PASS_DEF_WIDENOPERANDSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// The contraction reads each element of an operand several times. From this number of reads on, converting
// the operand in a kernel of its own is faster than converting it at each read. The number is larger for
// bf16, whose conversion to f32 is only a shift.
static constexpr int64_t kMinReads = 16, kMinReadsBF16 = 128;

static Type elementOf(Value tensor) { return getElementTypeOrSelf(tensor.getType()); }

// The type in which contractions of narrower floats accumulate; null for others.
static FloatType wideType(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() < 32 ? Float32Type::get(element.getContext()) : FloatType();
}

// The product of the sizes of the axes; dynamic sizes count as many.
static bool reaches(int64_t least, RankedTensorType type, function_ref<bool(int64_t)> counts) {
  int64_t count = 1;
  for (int64_t axis = 0; axis < type.getRank() && count < least; ++axis)
    if (counts(axis))
      count *= type.isDynamicDim(axis) ? least : type.getDimSize(axis);
  return count >= least;
}

// Whether each element of the other operand is read that often: once for each element of the free axes.
static bool readsOften(DotOp op, int64_t least) {
  auto often = [&](Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    return reaches(least, cast<RankedTensorType>(operand.getType()), [&](int64_t axis) {
      return !llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis);
    });
  };
  return often(op.getLhs(), op.getLhsBatch(), op.getLhsContract()) &&
         often(op.getRhs(), op.getRhsBatch(), op.getRhsContract());
}

static bool readsOften(GemmOp op, int64_t least) {
  return reaches(least, op.getType(), [](int64_t axis) { return axis == 0; }) &&
         reaches(least, op.getType(), [](int64_t axis) { return axis == 1; });
}

// Windows overlap, and the filter moves over all of them.
static bool readsOften(ConvOp op, int64_t least) {
  return reaches(least, cast<RankedTensorType>(op.getResult().getType()), [](int64_t) { return true; });
}

// A cast of the value to the type that the operation may use; null if there is none.
static Value existingCast(Value value, Type wide, Operation *op) {
  Block *block = value.getParentBlock();
  Operation *user = block->findAncestorOpInBlock(*op);
  for (Operation *other : value.getUsers())
    if (auto cast = dyn_cast<CastOp>(other);
        cast && cast->getBlock() == block && elementOf(cast) == wide && user && cast->isBeforeInBlock(user))
      return cast;
  return {};
}

// Right after the definition of the value: outside of loops that do not change it.
static Value widen(Value value, Type wide, Operation *op, PatternRewriter &rewriter) {
  if (Value cast = existingCast(value, wide, op))
    return cast;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(value);
  return castTo(rewriter, value.getLoc(), value, wide);
}

namespace {
template <typename OpTy> struct WidenOperands : NumericsPattern<OpTy> {
  WidenOperands(MLIRContext *context, bool dotProducts)
      : NumericsPattern<OpTy>(context, "widen-operands"), dotProducts(dotProducts) {}

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    Type left = elementOf(op->getOperand(0)), right = elementOf(op->getOperand(1));
    if (!wideType(left) || !wideType(right))
      return rewriter.notifyMatchFailure(op, "expected operands that are narrower than the accumulator");
    bool bf16 = left.isBF16() && right.isBF16();
    // They have no form for several contracted axes, as a convolution has.
    bool arePairs = bf16 && dotProducts && !std::is_same_v<OpTy, ConvOp>;
    if (arePairs && !op->hasAttr(kInstructionAttr) && allows(op, Permissions::mma))
      return rewriter.notifyMatchFailure(op, "dot-product instructions read bf16");
    if (!readsOften(op, bf16 ? kMinReadsBF16 : kMinReads))
      return rewriter.notifyMatchFailure(op, "expected operands whose elements are read often");
    return success();
  }

  void rewrite(OpTy op, PatternRewriter &rewriter) const override {
    LDBG() << "widened: " << op;
    Type wide = wideType(elementOf(op->getOperand(0)));
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand, widen(operand, wide, op, rewriter));
    Operation *copy = rewriter.clone(*op, operands);
    copy->removeAttr(kInstructionAttr); // an instruction of tensor cores for the narrow operands
    copy->getResult(0).setType(op.getType().clone(wide));
    rewriter.replaceOp(op, castTo(rewriter, op.getLoc(), copy->getResult(0), elementOf(op.getResult())));
  }

private:
  bool dotProducts;
};

struct WidenOperandsPass : ad::impl::WidenOperandsPassBase<WidenOperandsPass> {
  using WidenOperandsPassBase::WidenOperandsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    WidenOperandsPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateWidenOperandsPatterns(patterns, dotProducts);
    PatternLog log(DEBUG_TYPE);
    walkAndApplyPatterns(getOperation(), std::move(patterns), &log);
  }
};
} // namespace

void ad::populateWidenOperandsPatterns(RewritePatternSet &patterns, bool dotProducts) {
  patterns.add<WidenOperands<DotOp>, WidenOperands<GemmOp>, WidenOperands<ConvOp>>(patterns.getContext(),
                                                                                   dotProducts);
}
