// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `convert-ad-to-plain`: kernels and host programs in dialects of upstream.

#include "adjoint/Codegen/Kernel/TotalScalars.h"
#include "adjoint/Conversion/Passes.h"
#include "adjoint/Conversion/PlainLinalg.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-ad-to-plain"

namespace mlir::ad {
#define GEN_PASS_DEF_CONVERTADTOPLAINPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// All of them: a program needs them as arguments and results instead.
static LogicalResult refuseStreams(ModuleOp module) {
  bool isPlain = true;
  module.walk([&](Operation *op) {
    if (auto feed = dyn_cast<FeedOp>(op)) {
      feed.emitOpError("takes '") << feed.getName()
                                  << "' from the host, which upstream's dialects have no operation for; make "
                                     "it an argument of the function";
      isPlain = false;
    }
    if (auto receive = dyn_cast<ReceiveOp>(op)) {
      receive.emitOpError("passes '") << receive.getName()
                                      << "' to the host, which upstream's dialects have no operation for; "
                                         "make it a result of the function";
      isPlain = false;
    }
  });
  return success(isPlain);
}

namespace {
class ConvertADToPlainPass : public ad::impl::ConvertADToPlainPassBase<ConvertADToPlainPass> {
  using Populate = void (*)(RewritePatternSet &);

  LogicalResult initialize(MLIRContext *context) override {
    // Divisions that round up or down have no form in the LLVM dialect.
    for (Populate populate : {populateWrittenOrderPatterns, populateInlineKernelPatterns,
                              populatePlainHostPatterns, arith::populateCeilFloorDivExpandOpsPatterns}) {
      RewritePatternSet set(context);
      populate(set);
      sets.emplace_back(std::move(set));
    }
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireStage(module, Stage::lowered)) || failed(refuseStreams(module)))
      return signalPassFailure();
    for (const FrozenRewritePatternSet &set : sets)
      walkAndApplyPatterns(module, set);
    for (KernelOp kernel : llvm::make_early_inc_range(module.getOps<KernelOp>()))
      kernel.erase();
    makeScalarsTotal(module);
  }

  static void makeScalarsTotal(ModuleOp module) {
    SmallVector<Operation *> scalars;
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
        scalars.push_back(op);
    });
    LDBG() << "makes " << scalars.size() << " scalar operations total";
    for (Operation *op : scalars)
      makeTotal(op);
  }

  SmallVector<FrozenRewritePatternSet> sets;
};
} // namespace
