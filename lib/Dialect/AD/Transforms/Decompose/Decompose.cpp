// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs the written decompositions, all or those that an option names.

#include "../Numerics/WriteContract.h"
#include "adjoint/Dialect/AD/Transforms/NamedKernelOps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-decompose"

namespace mlir::ad {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// The operations that have a decomposition, sorted.
static SmallVector<StringRef> decomposable(const RewritePatternSet &patterns) {
  SmallVector<StringRef> names;
  for (const std::unique_ptr<RewritePattern> &pattern :
       const_cast<RewritePatternSet &>(patterns).getNativePatterns())
    if (std::optional<OperationName> root = pattern->getRootKind())
      names.push_back(root->getStringRef());
  llvm::sort(names);
  names.erase(llvm::unique(names), names.end());
  return names;
}

namespace {
// The operations of decompositions, in the order in which they were made.
struct CollectSteps : PatternLog {
  CollectSteps() : PatternLog(DEBUG_TYPE) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
    if (isa<NumericsOpInterface>(op) && !previous.isSet())
      steps.insert(op);
  }
  void notifyOperationErased(Operation *op) override { steps.remove(op); }

  llvm::SetVector<Operation *> steps;
};

struct DecomposePass : ad::impl::DecomposePassBase<DecomposePass> {
  using DecomposePassBase::DecomposePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateDecomposeNNPatterns(set);
    populateDecomposeReductionPatterns(set);
    populateDecomposeContractionPatterns(set);
    populateDecomposeScatterPatterns(set);
    populateDecomposeSortingPatterns(set);
    populateDecomposeConvPatterns(set);
    if (findTargetKind(target) == TargetKind::gpu)
      populatePatchesOfConvPatterns(set);
    SmallVector<StringRef> known = decomposable(set);
    for (const std::string &name : ops)
      if (!llvm::is_contained(known, name))
        return emitError(UnknownLoc::get(context))
               << "expected an operation with a decomposition (" << llvm::join(known, ", ") << "), but got '"
               << name << "'";
    SmallVector<std::string> enabled(ops.begin(), ops.end());
    patterns = FrozenRewritePatternSet(std::move(set), /*disabledPatternLabels=*/{}, enabled);
    return success();
  }

  /// Before the patterns, which decompose what named kernels consist of, and after them, since they may make
  /// named kernels. Whether there was one.
  FailureOr<bool> decomposeNamed() {
    if (!ops.empty())
      return false;
    std::optional<TargetKind> kind = findTargetKind(target);
    if (!target.empty() && !kind)
      return emitError(getOperation()->getLoc(), "unknown target '") << target << "', expected cpu or gpu",
             failure();
    return decomposeNamedKernels(
        getOperation(), [&](NamedKernelOpInterface op) { return kind && hasKernelClass(op, *kind); });
  }

  void runOnOperation() override {
    bool writesContract = hasWrittenContract(getOperation());
    FailureOr<bool> isChanged = decomposeNamed();
    do {
      if (failed(isChanged))
        return signalPassFailure();
      if (*isChanged && writesContract)
        writeContract(getOperation());
      if (failed(applyPatterns(writesContract)))
        return signalPassFailure();
      isChanged = decomposeNamed();
    } while (failed(isChanged) || *isChanged);
  }

  LogicalResult applyPatterns(bool writesContract) {
    // Only ad-simplify folds: this pass keeps every step of a decomposition as it is written.
    CollectSteps log;
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false).setListener(&log).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      return failure();
    if (writesContract)
      writeContract(log.steps.getArrayRef());
    log.report(getOperation());
    return success();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
