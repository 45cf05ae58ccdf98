// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters of 16- and 8-bit floats in f32, in which they combine: kernels then keep the accumulators where
// the result is.

#include "DecompositionSteps.h"
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
struct ScatterInComputeType : NumericsPattern<ScatterOp> {
  explicit ScatterInComputeType(MLIRContext *context) : NumericsPattern(context, "scatter-in-compute-type") {}

  LogicalResult match(ScatterOp op, SmallVectorImpl<Operation *> &,
                      PatternRewriter &rewriter) const override {
    Type element = op.getType().getElementType();
    if (op.getKind() == ScatterKind::set)
      return rewriter.notifyMatchFailure(op, "expected elements that are combined");
    if (computeType(element) == element)
      return rewriter.notifyMatchFailure(op, "expected 16- or 8-bit floats");
    return success();
  }

  void rewrite(ScatterOp op, PatternRewriter &rewriter) const override {
    Steps steps(rewriter, op);
    Value combined =
        ScatterOp::create(rewriter, steps.loc, op.getKind(), steps.computing(op.getInput()), op.getIndices(),
                          steps.computing(op.getUpdate()), op.getAxes(), op.getBatch(), op.getIndexBatch(),
                          op.getSlices(), op.getOutside(), PermissionsAttr());
    rewriter.replaceOp(op, steps.finish(combined, op.getType()));
  }
};
} // namespace

void ad::populateDecomposeScatterPatterns(RewritePatternSet &patterns) {
  patterns.add<ScatterInComputeType>(patterns.getContext());
}
