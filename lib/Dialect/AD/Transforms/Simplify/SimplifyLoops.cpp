// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops of no iteration and of one become their values. MLIR has such patterns too, but counts iterations in
// the type of the bounds, where the distance may be no number.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::ad;

static bool keepsSizes(scf::ForOp loop) {
  return llvm::all_of(llvm::zip_equal(loop.getInitArgs(), loop.getYieldedValues()), [](auto pair) {
    auto [init, yielded] = pair;
    return !isa<RankedTensorType>(init.getType()) || haveSameShape(init, yielded);
  });
}

namespace {
struct RemoveLoopWithoutIterations : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    if (staticTripCount(loop) != uint64_t(0))
      return rewriter.notifyMatchFailure(loop, "expected no iteration");
    rewriter.replaceOp(loop, loop.getInitArgs());
    return success();
  }
};

struct InlineLoopOfOneIteration : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    if (staticTripCount(loop) != uint64_t(1))
      return rewriter.notifyMatchFailure(loop, "expected one iteration");
    if (!keepsSizes(loop))
      return rewriter.notifyMatchFailure(loop, "expected carries that keep their sizes, which a loop checks");
    SmallVector<Value> arguments{loop.getLowerBound()};
    llvm::append_range(arguments, loop.getInitArgs());
    Operation *yield = loop.getBody()->getTerminator();
    rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
    rewriter.replaceOp(loop, yield->getOperands());
    rewriter.eraseOp(yield);
    return success();
  }
};
} // namespace

void ad::populateLoopPatterns(RewritePatternSet &patterns) {
  patterns.add<RemoveLoopWithoutIterations, InlineLoopOfOneIteration>(patterns.getContext());
}
