// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `convert-ad-to-linalg`: lowers operations inside fusions through their interfaces, merges axes and
// dissolves reshapes.

#include "ADToLinalg.h"
#include "MergeAxes.h"
#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-ad-to-linalg"

namespace mlir::ad {
#define GEN_PASS_DEF_CONVERTADTOLINALGPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// A fusion of one reshape moves no data: the reshape goes back to the host program.
static bool dissolveReshape(FusionOp fusion) {
  Block &body = fusion.getBody().front();
  Operation *reshape = &body.front();
  if (viewKindOf(reshape) != ViewKind::reshape || !isa<ADDialect>(reshape->getDialect()) ||
      body.getOperations().size() != 2)
    return false;
  LDBG() << "a fusion of one reshape goes back to the host program, at " << fusion.getLoc();
  OpBuilder builder(fusion);
  IRMapping mapping;
  mapping.map(body.getArguments(), fusion.getInputs());
  Operation *outside = builder.clone(*reshape, mapping);
  fusion.replaceAllUsesWith(outside);
  fusion.erase();
  return true;
}

// Code that ad-insert-shape-checks has written.
static bool isWrittenInLinalg(FusionOp fusion) {
  return !fusion.getBody().front().getOps<linalg::LinalgOp>().empty();
}

namespace {
class ConvertADToLinalgPass : public ad::impl::ConvertADToLinalgPassBase<ConvertADToLinalgPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertADToLinalgPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry); // for the functions that are approximated
    registerContractionModels(registry);
    registerCreationModels(registry);
    registerReductionModels(registry);
    registerShapeModels(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateInterfacesToLinalgPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    // Operations outside of a fusion would stay as they are.
    if (failed(requireStage(getOperation(), Stage::fused)))
      return signalPassFailure();
    PatternLog log(DEBUG_TYPE);
    SmallVector<FusionOp> fusions;
    getOperation().walk([&](FusionOp fusion) { fusions.push_back(fusion); });
    for (FusionOp fusion : fusions) {
      if (dissolveReshape(fusion) || isWrittenInLinalg(fusion))
        continue;
      fusion = mergeAxes(fusion);
      walkAndApplyPatterns(fusion, patterns, &log);
      if (failed(requireLowered(fusion)))
        return signalPassFailure();
    }
  }

  static LogicalResult requireLowered(FusionOp fusion) {
    for (Operation &op : fusion.getBody().front())
      if (isa<FusableOpInterface>(op) && !isa<NamedKernelOpInterface>(op)) // its class has the code
        return op.emitOpError(
            "cannot be lowered to linalg here; run --ad-to-cpu-frontend before --ad-to-cpu-fusion, or before "
            "--ad-to-gpu-fusion for a GPU");
    return success();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
