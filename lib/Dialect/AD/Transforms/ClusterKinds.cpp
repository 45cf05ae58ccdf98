// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Gives every fusion the class of its kernel.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-select-kernels"

namespace mlir::ad {
#define GEN_PASS_DEF_SELECTKERNELSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Only axes of size 1 come or go: every element keeps its indices along the others.
static bool keepsIndices(Operation &reshape) {
  auto longAxes = [](Value value) {
    return llvm::filter_to_vector(cast<RankedTensorType>(value.getType()).getShape(),
                                  [](int64_t size) { return size != 1; });
  };
  auto before = longAxes(reshape.getOperand(0)), after = longAxes(reshape.getResult(0));
  return before == after && llvm::count_if(after, ShapedType::isDynamic) <= 1;
}

static bool isPartOfElementwise(Operation &op) {
  ViewKind view = viewKindOf(&op);
  if (view == ViewKind::reshape)
    return keepsIndices(op);
  return view == ViewKind::broadcast || isElementwiseOp(&op) || op.hasTrait<OpTrait::ConstantLike>();
}

// Elements that are contiguous in the operand are not in the result.
static bool movesLastAxis(Operation &op) {
  if (viewKindOf(&op) != ViewKind::transpose)
    return false;
  AffineMap access = cast<FusableOpInterface>(op).getAccessMaps().front();
  return access.getNumResults() > 0 &&
         access.getResults().back() != getAffineDimExpr(access.getNumDims() - 1, op.getContext());
}

static KernelClass classOf(FusionOp fusion) {
  auto operations = fusion.getBody().front().without_terminator();
  auto isPartOfRows = [](Operation &op) { return isPartOfElementwise(op) || reducesLastAxis(&op); };
  if (llvm::all_of(operations, isPartOfElementwise))
    return KernelClass::elementwise;
  if (llvm::all_of(operations, isPartOfRows))
    return KernelClass::row;
  if (llvm::any_of(operations, [](Operation &op) { return isContractionOp(&op); }))
    return KernelClass::contraction;
  if (llvm::hasSingleElement(operations) && movesLastAxis(*operations.begin()))
    return KernelClass::transposition;
  return KernelClass::generic;
}

namespace {
struct SelectKernelsPass : ad::impl::SelectKernelsPassBase<SelectKernelsPass> {
  void runOnOperation() override {
    // Operations outside of a fusion would get no class.
    if (failed(requireStage(getOperation(), Stage::fused)))
      return signalPassFailure();
    getOperation()->walk([](FusionOp fusion) {
      if (!fusion.getKernel())
        fusion.setKernel(classOf(fusion));
      LDBG() << "ad.fusion " << stringifyFusionKind(fusion.getKind()) << " at " << fusion.getLoc()
             << " has class " << stringifyKernelClass(*fusion.getKernel());
    });
  }
};
} // namespace
