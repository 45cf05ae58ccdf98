// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs bit-exact clean-up and, where operations permit, algebra. Upstream's folders and patterns run on
// operations of an allow-list only (UpstreamPatterns.h).

#include "../UpstreamPatterns.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "adjoint/Dialect/AD/Transforms/ScalarFlags.h"
#include "adjoint/Support/NumericOption.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-simplify"

namespace mlir::ad {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Whether values are made before they are used. Where they are not, in graph regions and in code that nothing
// reaches, an operation may use its own result, and folding it has no end.
static bool isInOrder(DominanceInfo &dominance, Operation *op) {
  return dominance.hasSSADominance(op->getBlock()) && dominance.isReachableFromEntry(op->getBlock());
}

// Replaces each size by the one that it comes from. A pattern would follow a chain of operations once for
// each size at its end; one analysis of the whole program follows it once.
static void resolveSizes(ArrayRef<Operation *> ops, RewriterBase &rewriter) {
  SizeAnalysis analysis;
  SmallVector<std::pair<tensor::DimOp, SizeOrigin>> known;
  for (Operation *op : ops) {
    auto dim = dyn_cast<tensor::DimOp>(op);
    std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt;
    auto type = axis ? dyn_cast<RankedTensorType>(dim.getSource().getType()) : RankedTensorType();
    if (!type || *axis < 0 || *axis >= type.getRank())
      continue;
    SizeOrigin origin = analysis.originOfSize(dim.getSource(), *axis);
    if (origin != SizeOrigin{-1, dim.getSource(), *axis})
      known.emplace_back(dim, origin);
  }
  for (auto &[dim, origin] : known) {
    rewriter.setInsertionPoint(dim);
    dim.getResult().replaceAllUsesWith(materializeSize(rewriter, dim.getLoc(), origin));
  }
}

// The results of a folder as values, where the dialect has constants for all of them.
static FailureOr<SmallVector<Value>> materialize(RewriterBase &rewriter, Operation *op,
                                                 ArrayRef<OpFoldResult> folded) {
  SmallVector<Value> values;
  SmallVector<Operation *> made;
  for (auto [result, type] : llvm::zip_equal(folded, op->getResultTypes())) {
    if (auto value = dyn_cast<Value>(result)) {
      values.push_back(value);
      continue;
    }
    Operation *constant =
        op->getDialect()->materializeConstant(rewriter, cast<Attribute>(result), type, op->getLoc());
    if (!constant) {
      for (Operation *unused : made)
        rewriter.eraseOp(unused);
      return failure();
    }
    made.push_back(constant);
    values.push_back(constant->getResult(0));
  }
  return values;
}

namespace {
// Runs the folder of an operation that may fold. MLIR's drivers would fold whatever a pattern inserts or
// moves, such as the operations of an inlined branch, without asking the allow-list.
struct FoldAllowed : RewritePattern {
  explicit FoldAllowed(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/kBeforeAllOthers, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    // A constant folds to itself, without an end.
    if (op->hasTrait<OpTrait::ConstantLike>() || !mayFold(op))
      return failure();
    SmallVector<OpFoldResult> folded;
    rewriter.startOpModification(op);
    if (failed(op->fold(folded))) {
      rewriter.cancelOpModification(op);
      return failure();
    }
    rewriter.finalizeOpModification(op);
    if (folded.empty()) // changed in place
      return success();
    FailureOr<SmallVector<Value>> values = materialize(rewriter, op, folded);
    if (failed(values))
      return failure();
    rewriter.replaceOp(op, *values);
    return success();
  }

  static constexpr unsigned short kBeforeAllOthers = 1000;
};

struct CountRewrites : PatternLog {
  CountRewrites() : PatternLog(DEBUG_TYPE) {}
  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override {
    PatternLog::notifyPatternEnd(pattern, status);
    count += status.succeeded();
  }
  int64_t count = 0;
};

struct SimplifyPass : ad::impl::SimplifyPassBase<SimplifyPass> {
  using SimplifyPassBase::SimplifyPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SimplifyPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<FoldAllowed>(context);
    populateAllowedPatterns(set);
    populateIndexPatterns(set);
    populateLoopPatterns(set);
    populateMovementPatterns(set);
    populateAlgebraPatterns(set);
    populateContractionPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(verifyAtLeast(getOperation(), "max-rewrites", -1, maxRewrites)))
      return signalPassFailure();
    getOperation()->walk(dropScalarFlags); // upstream's folders ask them
    CountRewrites counter;
    simplify(counter);
    counter.report(getOperation());
  }

  void simplify(CountRewrites &counter) {
    // Sharing and cancelling enable each other; few programs need more than two rounds.
    for (int round = 0; round < kMaxRounds; ++round) {
      bool rewritten = false, shared = false;
      if (!rewrite(counter, rewritten))
        return;
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(getOperation());
      eliminateCommonSubExpressions(rewriter, dominance, getOperation(), &shared);
      LDBG() << "round " << round << " ends after " << counter.count << " rewrites, equal operations were "
             << (shared ? "shared" : "not found");
      if (!shared)
        return;
    }
  }

  // One run of all patterns; false when the limit of rewrites is reached.
  bool rewrite(CountRewrites &counter, bool &changed) {
    SmallVector<Operation *> ops;
    DominanceInfo dominance(getOperation());
    getOperation()->walk([&](Operation *op) {
      if (op != getOperation() && mayFold(op) && isInOrder(dominance, op))
        ops.push_back(op);
    });
    if (ops.empty())
      return true;
    // Patterns shrink the program or move it closer to a normal form; the bound guards against a pair that
    // undo each other.
    int64_t bound = 4096 + kRewritesPerOp * static_cast<int64_t>(ops.size());
    bool bisecting = maxRewrites >= 0;
    if (bisecting && counter.count >= maxRewrites)
      return false;
    IRRewriter rewriter(&getContext());
    resolveSizes(ops, rewriter);
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
        .setMaxNumRewrites(bisecting ? maxRewrites - counter.count : bound)
        .setListener(&counter);
    if (succeeded(applyOpPatternsGreedily(ops, patterns, config, &changed)))
      return true;
    if (!bisecting)
      getOperation()->emitWarning("simplification stopped after ")
          << bound << " rewrites without an end in sight";
    return false;
  }

  static constexpr int kMaxRounds = 8;
  static constexpr int64_t kRewritesPerOp = 64;
  FrozenRewritePatternSet patterns;
};
} // namespace
