// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops of a host program: carried tensors keep their sizes, and no loop adds its step beyond the numbers of
// its index, which upstream would. Upstream folds loops of unsigned and of narrow numbers by distances that
// wrap, so these count iterations, too.

#include "HostCode.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::plain;

static void assertSizes(OpBuilder &builder, Operation *loop, Value initial, Value next) {
  auto type = dyn_cast<RankedTensorType>(initial.getType());
  if (!type || initial == next)
    return;
  Location loc = loop->getLoc();
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    Value before = builder.createOrFold<tensor::DimOp>(loc, initial, axis);
    Value after = builder.createOrFold<tensor::DimOp>(loc, next, axis);
    Value same = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, before, after);
    if (!matchPattern(same, m_One()))
      assertThat(builder, loc, same, loop->getName().getStringRef(), messageOf(ADRT_FAIL_CARRY));
  }
}

static void assertSizesAtEnd(RewriterBase &rewriter, Operation *loop, ValueRange initial, Block &body) {
  Operation *yield = body.getTerminator();
  rewriter.setInsertionPoint(yield);
  for (auto [before, after] : llvm::zip_equal(initial, yield->getOperands()))
    assertSizes(rewriter, loop, before, after);
}

// Whether the loop adds its step as upstream does: the last sum is a number of the type.
static bool mayAddSteps(scf::ForOp loop) {
  if (loop.getUnsignedCmp() || !loop.getInductionVar().getType().isIndex())
    return false;
  if (std::optional<LoopRange> range = staticRange(loop))
    return range->lastStepFits();
  return matchPattern(loop.getStep(), m_One());
}

// From 0 to the number of iterations. More than have a sign would take centuries.
static void countIterations(RewriterBase &rewriter, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), step = loop.getStep(), index = loop.getInductionVar();
  rewriter.setInsertionPoint(loop);
  Value trips = emitTripCount(rewriter, loc, lower, loop.getUpperBound(), step, loop.getUnsignedCmp());
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(trips.getType(), value));
  };
  Value limit = number(std::numeric_limits<int64_t>::max());
  trips = rewriter.createOrFold<arith::MinUIOp>(loc, trips, limit);
  rewriter.modifyOpInPlace(loop, [&] {
    loop.setLowerBound(number(0));
    loop.setUpperBound(trips);
    loop.setStep(number(1));
    loop.setUnsignedCmp(false);
  });
  // The old index stays an argument while its uses are replaced.
  rewriter.setInsertionPointToStart(loop.getBody());
  BlockArgument trip = loop.getBody()->insertArgument(0u, trips.getType(), index.getLoc());
  Value element = emitLoopIndex(rewriter, loc, lower, step, trip);
  rewriter.replaceAllUsesWith(index, element);
  loop.getBody()->eraseArgument(1);
}

namespace {
struct GuardFor : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    if (loop->getParentOfType<linalg::GenericOp>())
      return rewriter.notifyMatchFailure(loop, "is scalar code of a kernel");
    assertSizesAtEnd(rewriter, loop, loop.getInitArgs(), *loop.getBody());
    if (!mayAddSteps(loop))
      countIterations(rewriter, loop);
    return success();
  }
};

struct GuardWhile : OpRewritePattern<scf::WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::WhileOp loop, PatternRewriter &rewriter) const override {
    assertSizesAtEnd(rewriter, loop, loop.getInits(), *loop.getAfterBody());
    return success();
  }
};
} // namespace

void plain::populateLoopPatterns(RewritePatternSet &patterns) {
  patterns.add<GuardFor, GuardWhile>(patterns.getContext());
}
