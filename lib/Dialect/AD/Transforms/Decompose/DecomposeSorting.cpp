// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The decompositions of ad.sort and ad.top_k into ad.argsort and reads at its positions.

#include "DecompositionSteps.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
template <typename OpTy> struct Decompose : NumericsPattern<OpTy> {
  explicit Decompose(MLIRContext *context) : NumericsPattern<OpTy>(context, "decompose") {}

  LogicalResult match(OpTy, SmallVectorImpl<Operation *> &, PatternRewriter &) const override {
    return success();
  }
  void rewrite(OpTy op, PatternRewriter &rewriter) const override;
};

template <> void Decompose<SortOp>::rewrite(SortOp op, PatternRewriter &rewriter) const {
  Steps steps(rewriter, op);
  Value key = op.getInputs().front();
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(steps.requireShape(key, 0, input));
  int64_t axis = op.getAxis();
  Value positions = ArgsortOp::create(rewriter, steps.loc, key, axis, op.getDescending(), PermissionsAttr());
  SmallVector<Value> sorted;
  for (auto [input, result] : llvm::zip_equal(inputs, op.getResults()))
    sorted.push_back(
        steps.finish(gatherAlong(rewriter, steps.loc, input, positions, axis), result.getType()));
  rewriter.replaceOp(op, sorted);
}

template <> void Decompose<TopKOp>::rewrite(TopKOp op, PatternRewriter &rewriter) const {
  Steps steps(rewriter, op);
  int64_t axis = op.getAxis();
  Value all =
      ArgsortOp::create(rewriter, steps.loc, op.getInput(), axis, !op.getSmallest(), PermissionsAttr());
  RankedTensorType type = op.getPositions().getType();
  SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1);
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, steps.loc,
                                                      sizeOf(rewriter, steps.loc, op.getInput(), i)));
  Value positions =
      SliceOp::create(rewriter, steps.loc, type, all, offsets, strides, sizes, PermissionsAttr());
  Value values = gatherAlong(rewriter, steps.loc, op.getInput(), positions, axis);
  rewriter.replaceOp(op, {steps.finish(values, op.getValues().getType()), positions});
}
} // namespace

void ad::populateDecomposeSortingPatterns(RewritePatternSet &patterns) {
  patterns.add<Decompose<SortOp>, Decompose<TopKOp>>(patterns.getContext());
}
