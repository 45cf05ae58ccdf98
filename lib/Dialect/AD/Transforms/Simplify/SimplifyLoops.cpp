// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops of no iteration and of one become their values, and what a loop carries for itself alone goes. MLIR
// has such patterns too, but counts iterations in the type of the bounds, where the distance may be no
// number.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

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

// A carry that nothing uses but its own next value, such as the counter of an optimizer that does not read
// it, keeps its first value. A pattern of MLIR then removes it.
struct StopUnusedCarry : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    Operation *yield = loop.getBody()->getTerminator();
    for (auto [index, result, carried] : llvm::enumerate(loop.getResults(), loop.getRegionIterArgs())) {
      if (!result.use_empty() || yield->getOperand(index) == carried || hasDynamicSize(carried) ||
          !feedsItselfAlone(carried, yield, index))
        continue;
      rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(index, carried); });
      return success();
    }
    return rewriter.notifyMatchFailure(loop, "expected a carry that only its own next value uses");
  }

  // A loop checks that a carry keeps its sizes.
  static bool hasDynamicSize(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !type.hasStaticShape();
  }

  // Whether all that is computed from the value in the loop has no effect and ends in one operand of the
  // yield.
  static bool feedsItselfAlone(Value carried, Operation *yield, size_t index) {
    llvm::SetVector<Operation *> users;
    users.insert_range(carried.getUsers());
    for (size_t next = 0; next < users.size(); ++next) {
      Operation *user = users[next];
      if (user == yield)
        continue;
      if (user->getBlock() != yield->getBlock() || user->getNumRegions() != 0 || !isMemoryEffectFree(user))
        return false;
      users.insert_range(user->getUsers());
    }
    return llvm::all_of(yield->getOpOperands(), [&](OpOperand &operand) {
      Operation *op = operand.get().getDefiningOp();
      bool isComputed = operand.get() == carried || (op && users.contains(op));
      return operand.getOperandNumber() == index || !isComputed;
    });
  }
};
} // namespace

void ad::populateLoopPatterns(RewritePatternSet &patterns) {
  patterns.add<RemoveLoopWithoutIterations, InlineLoopOfOneIteration, StopUnusedCarry>(patterns.getContext());
}
