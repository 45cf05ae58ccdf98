// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-import-linalg`: programs of upstream's dialects become programs of `ad`.

#include "Importer.h"
#include "adjoint/Conversion/Passes.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-import-linalg"

namespace mlir::ad {
#define GEN_PASS_DEF_IMPORTLINALGPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

//===- What is imported -===//

static bool hasTensor(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

// Functions of numbers that host programs have are arithmetic.
static bool isHostFunction(Operation *op) {
  return isa<math::AbsFOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::SqrtOp>(op);
}

static bool isScalarWork(Operation *op) {
  if (isa<arith::ConstantOp>(op))
    return false;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isa<TensorType>(select.getCondition().getType());
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return hasTensor(op) || !isHostFunction(op);
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && hasTensor(op);
}

bool ad::needsImport(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (isa_and_nonnull<linalg::LinalgDialect>(dialect) || isa<bufferization::AllocTensorOp>(op))
    return true;
  if (isa_and_nonnull<tensor::TensorDialect>(dialect))
    return !isa<tensor::CastOp, tensor::DimOp, tensor::ExtractOp>(op);
  return isScalarWork(op);
}

// They become constants that `ad` folds.
static bool isTensorConstant(Operation *op) { return isa<arith::ConstantOp>(op) && hasTensor(op); }

void Importer::import(Operation *op) {
  Dialect *dialect = op->getDialect();
  if (isa_and_nonnull<linalg::LinalgDialect>(dialect))
    (void)importLinalg(op);
  else if (isa_and_nonnull<tensor::TensorDialect>(dialect))
    (void)importTensor(op);
  else if (isa<bufferization::AllocTensorOp>(op))
    (void)importMaker(op);
  else
    (void)importScalarOp(op);
}

//===- The pass -===//

// Operations outside of kernels and of the regions of others that are imported, in their order.
static void forEachOp(ModuleOp module, function_ref<WalkResult(Operation *)> visit) {
  for (auto function : module.getOps<func::FuncOp>()) {
    WalkResult result = function.walk<WalkOrder::PreOrder>(
        [&](Operation *op) { return isa<FusionOp>(op) ? WalkResult::skip() : visit(op); });
    if (result.wasInterrupted())
      return;
  }
}

static bool isForeign(ModuleOp module) {
  bool found = false;
  forEachOp(module, [&](Operation *op) {
    found = needsImport(op) || isTensorConstant(op) || hasForeignControlFlow(op) || hasIndexTensor(op);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

// Tiled layouts as padding, reshapes and transpositions. What upstream does not lower is refused later.
static void lowerPacks(ModuleOp module) {
  SmallVector<Operation *> found;
  forEachOp(module, [&](Operation *op) {
    if (isa<linalg::PackOp, linalg::UnPackOp>(op))
      found.push_back(op);
    return WalkResult::advance();
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : found) {
    rewriter.setInsertionPoint(op);
    if (auto pack = dyn_cast<linalg::PackOp>(op))
      (void)linalg::lowerPack(rewriter, pack);
    else
      (void)linalg::lowerUnPack(rewriter, cast<linalg::UnPackOp>(op));
  }
}

static void importOps(ModuleOp module, Refusals &refusals) {
  SmallVector<Operation *> found, destinations;
  forEachOp(module, [&](Operation *op) {
    if (!needsImport(op) && !isTensorConstant(op))
      return WalkResult::advance();
    (isa<tensor::EmptyOp>(op) ? destinations : found).push_back(op);
    return WalkResult::skip();
  });
  Importer importer(module.getContext(), refusals);
  for (Operation *op : found)
    importer.import(op);
  for (Operation *op : destinations)
    if (!op->use_empty())
      importer.import(op);
}

static void eraseDead(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op) || (isa<func::ConstantOp>(op) && op->use_empty()))
        op->erase();
    });
}

namespace {
struct ImportLinalgPass : ad::impl::ImportLinalgPassBase<ImportLinalgPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!isForeign(module))
      return markAllAnalysesPreserved();
    Refusals refusals;
    importControlFlow(module, refusals);
    importIndexTensors(module);
    lowerPacks(module);
    importOps(module, refusals);
    if (!refusals.empty()) {
      refusals.report();
      return signalPassFailure();
    }
    eraseDead(module);
    LDBG() << "imported a program of other dialects";
  }
};
} // namespace
