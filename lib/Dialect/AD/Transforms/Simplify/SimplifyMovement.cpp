// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Removes movement of data that is folded into another operation, or that moves nothing. Bit-exact: a
// contraction sums by the contracted index, at any position of its axis, and keeps its written order.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::ad;

// The axes of the transpose's input that correspond to `axes` of its result.
static SmallVector<int64_t> throughTranspose(TransposeOp transpose, ArrayRef<int64_t> axes) {
  return llvm::map_to_vector(axes, [&](int64_t axis) { return transpose.getPermutation()[axis]; });
}

static SmallVector<int64_t> freeAxes(Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(operand.getType()).getRank(); ++axis)
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis))
      axes.push_back(axis);
  return axes;
}

namespace {
// One operand of an ad.dot with its axes.
struct DotSide {
  Value value;
  ArrayRef<int64_t> batch, contract;

  SmallVector<int64_t> free() const { return freeAxes(value, batch, contract); }
};

struct FoldTransposeIntoDot : NumericsPattern<DotOp> {
  explicit FoldTransposeIntoDot(MLIRContext *context) : NumericsPattern(context, "fold-transpose-into-dot") {}

  static DotSide lhs(DotOp op) { return {op.getLhs(), op.getLhsBatch(), op.getLhsContract()}; }
  static DotSide rhs(DotOp op) { return {op.getRhs(), op.getRhsBatch(), op.getRhsContract()}; }

  // The transpose before the operand, if the free axes stay in order without it.
  static TransposeOp foldable(const DotSide &side) {
    auto transpose = side.value.getDefiningOp<TransposeOp>();
    return transpose && llvm::is_sorted(throughTranspose(transpose, side.free())) ? transpose : nullptr;
  }

  LogicalResult match(DotOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!foldable(lhs(op)) && !foldable(rhs(op)))
      return rewriter.notifyMatchFailure(op,
                                         "expected a transposed operand whose free axes keep their order");
    return success();
  }

  void rewrite(DotOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> values;
    SmallVector<SmallVector<int64_t>> batch, contract;
    for (const DotSide &side : {lhs(op), rhs(op)}) {
      TransposeOp transpose = foldable(side);
      values.push_back(transpose ? transpose.getInput() : side.value);
      batch.push_back(transpose ? throughTranspose(transpose, side.batch) : SmallVector<int64_t>(side.batch));
      contract.push_back(transpose ? throughTranspose(transpose, side.contract)
                                   : SmallVector<int64_t>(side.contract));
    }
    auto made = DotOp::create(rewriter, op.getLoc(), op.getType(), values[0], values[1], batch[0], batch[1],
                              contract[0], contract[1], op.getOrderAttr(), op.getAllowAttr());
    keepInstruction(op, made);
    rewriter.replaceOp(op, made);
  }
};

// The transpose that exchanges the free axes of both operands is the contraction of the exchanged operands.
struct FoldDotIntoTranspose : NumericsPattern<TransposeOp> {
  explicit FoldDotIntoTranspose(MLIRContext *context)
      : NumericsPattern(context, "exchange-operands-of-dot") {}

  LogicalResult match(TransposeOp op, SmallVectorImpl<Operation *> &,
                      PatternRewriter &rewriter) const override {
    auto dot = op.getInput().getDefiningOp<DotOp>();
    if (!dot || !dot->hasOneUse())
      return rewriter.notifyMatchFailure(op, "expected an ad.dot without other users as the operand");
    int64_t batches = dot.getLhsBatch().size();
    int64_t left = freeAxes(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContract()).size();
    int64_t rank = op.getPermutation().size();
    SmallVector<int64_t> exchange = llvm::to_vector(llvm::seq<int64_t>(0, batches));
    llvm::append_range(exchange, llvm::seq<int64_t>(batches + left, rank));
    llvm::append_range(exchange, llvm::seq<int64_t>(batches, batches + left));
    if (op.getPermutation() != ArrayRef<int64_t>(exchange))
      return rewriter.notifyMatchFailure(op, "expected the exchange of the free axes of both operands");
    return success();
  }

  void rewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto dot = op.getInput().getDefiningOp<DotOp>();
    auto made = DotOp::create(rewriter, op.getLoc(), op.getType(), dot.getRhs(), dot.getLhs(),
                              dot.getRhsBatch(), dot.getLhsBatch(), dot.getRhsContract(),
                              dot.getLhsContract(), dot.getOrderAttr(), dot.getAllowAttr());
    keepInstruction(dot, made);
    rewriter.replaceOp(op, made);
  }
};

struct FoldTransposeIntoGemm : NumericsPattern<GemmOp> {
  explicit FoldTransposeIntoGemm(MLIRContext *context)
      : NumericsPattern(context, "fold-transpose-into-gemm") {}

  LogicalResult match(GemmOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!op.getLhs().getDefiningOp<TransposeOp>() && !op.getRhs().getDefiningOp<TransposeOp>())
      return rewriter.notifyMatchFailure(op, "expected a transposed operand");
    return success();
  }

  void rewrite(GemmOp op, PatternRewriter &rewriter) const override {
    rewriter.modifyOpInPlace(op, [&] {
      // Of two axes, the only transpose that is not the identity exchanges them.
      auto fold = [](OpOperand &operand) {
        auto transpose = operand.get().getDefiningOp<TransposeOp>();
        if (!transpose)
          return false;
        operand.set(transpose.getInput());
        return transpose.getPermutation()[0] == 1;
      };
      if (fold(op.getLhsMutable()))
        op.setTransA(!op.getTransA());
      if (fold(op.getRhsMutable()))
        op.setTransB(!op.getTransB());
    });
  }
};

// A part of a part is a part of the whole.
struct ComposeSlices : NumericsPattern<SliceOp> {
  explicit ComposeSlices(MLIRContext *context) : NumericsPattern(context, "compose-slices") {}

  LogicalResult match(SliceOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "expected a slice of a slice");
    for (Value tensor : {inner.getInput(), inner.getResult(), op.getResult()})
      if (!cast<RankedTensorType>(tensor.getType()).hasStaticShape())
        return rewriter.notifyMatchFailure(op, "expected static shapes, since slices check others");
    return success();
  }
  void rewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    SmallVector<int64_t> offsets, strides;
    for (auto [offset, stride, innerOffset, innerStride] :
         llvm::zip_equal(op.getOffsets(), op.getStrides(), inner.getOffsets(), inner.getStrides())) {
      offsets.push_back(innerOffset + offset * innerStride);
      strides.push_back(stride * innerStride);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getInput(), offsets, strides, ValueRange(),
                                         op.getAllowAttr());
  }
};

// A broadcast to sizes that the operand has, where the types write them differently: `?` on one side, a
// number on the other.
struct BroadcastToOwnSizes : NumericsPattern<BroadcastOp> {
  explicit BroadcastToOwnSizes(MLIRContext *context) : NumericsPattern(context, "broadcast-to-own-sizes") {}

  LogicalResult match(BroadcastOp op, SmallVectorImpl<Operation *> &,
                      PatternRewriter &rewriter) const override {
    if (!haveSameShape(op.getInput(), op.getResult()))
      return rewriter.notifyMatchFailure(op, "expected a result with the sizes of the operand");
    return success();
  }

  void rewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput(), op.getSizes(), op.getAllowAttr());
  }
};

// A reduction that keeps its axes as 1 and a reshape that drops them, or one that drops and a reshape that
// adds.
template <typename ReduceOp> struct FoldReshapeIntoReduction : NumericsPattern<ReshapeOp> {
  explicit FoldReshapeIntoReduction(MLIRContext *context)
      : NumericsPattern(context, "fold-reshape-into-reduction") {}

  // Whether the shapes agree, in the types and at run time, but for the reduced axes: one has them as 1, the
  // other lacks them.
  static bool differOnlyInAxes(Value kept, Value dropped, ArrayRef<int64_t> axes) {
    ArrayRef<int64_t> keptShape = cast<RankedTensorType>(kept.getType()).getShape();
    ArrayRef<int64_t> droppedShape = cast<RankedTensorType>(dropped.getType()).getShape();
    if (keptShape.size() != droppedShape.size() + axes.size())
      return false;
    SizeAnalysis sizes;
    size_t position = 0;
    for (auto [axis, size] : llvm::enumerate(keptShape)) {
      if (llvm::is_contained(axes, static_cast<int64_t>(axis))) {
        if (size != 1)
          return false;
        continue;
      }
      if (size != droppedShape[position] ||
          sizes.originOfSize(kept, axis) != sizes.originOfSize(dropped, position))
        return false;
      ++position;
    }
    return true;
  }

  LogicalResult match(ReshapeOp op, SmallVectorImpl<Operation *> &,
                      PatternRewriter &rewriter) const override {
    auto reduction = op.getInput().getDefiningOp<ReduceOp>();
    if (!reduction || !reduction->hasOneUse())
      return rewriter.notifyMatchFailure(op, "expected a reduction without other users as the operand");
    Value kept = op.getInput(), dropped = op.getResult();
    if (!reduction.getKeepDims())
      std::swap(kept, dropped);
    if (!differOnlyInAxes(kept, dropped, reduction.getAxes()))
      return rewriter.notifyMatchFailure(op,
                                         "expected a reshape that adds or drops exactly the reduced axes");
    return success();
  }

  void rewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto reduction = op.getInput().getDefiningOp<ReduceOp>();
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), reduction.getInput(), reduction.getAxes(),
                                          !reduction.getKeepDims(), reduction.getOrderAttr(),
                                          reduction.getAllowAttr());
  }
};
} // namespace

void ad::populateMovementPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldTransposeIntoDot, FoldDotIntoTranspose, FoldTransposeIntoGemm, ComposeSlices,
               BroadcastToOwnSizes, FoldReshapeIntoReduction<ReduceSumOp>,
               FoldReshapeIntoReduction<ReduceProdOp>, FoldReshapeIntoReduction<ReduceMaxOp>,
               FoldReshapeIntoReduction<ReduceMinOp>, FoldReshapeIntoReduction<ReduceMeanOp>>(
      patterns.getContext());
}
