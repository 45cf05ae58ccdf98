// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Gives every fusion the class of its kernel.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-select-kernels"

namespace mlir::ad {
#define GEN_PASS_DEF_SELECTKERNELSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Only axes of size 1 come or go: every element keeps its indices along the others.
static bool keepsIndices(ReshapeOp reshape) {
  auto longAxes = [](Value value) {
    return llvm::filter_to_vector(cast<RankedTensorType>(value.getType()).getShape(),
                                  [](int64_t size) { return size != 1; });
  };
  auto before = longAxes(reshape.getInput()), after = longAxes(reshape.getResult());
  return before == after && llvm::count_if(after, ShapedType::isDynamic) <= 1;
}

static bool isPartOfElementwise(Operation &op) {
  if (isa<BroadcastOp, ConstantOp, IotaOp>(op))
    return true;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return keepsIndices(reshape);
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable ? fusable.getFusionKind() == FusionKind::elementwise : op.hasTrait<OpTrait::ConstantLike>();
}

// A reduction over the last axis only.
static bool reducesRows(Operation &op) {
  return llvm::TypeSwitch<Operation &, bool>(op)
      .Case<ReduceSumOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp, ReduceMeanOp>([](auto reduction) {
        int64_t rank = cast<RankedTensorType>(reduction.getInput().getType()).getRank();
        return reduction.getAxes() == ArrayRef<int64_t>{rank - 1};
      })
      .Default(false);
}

static bool isContraction(Operation &op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == FusionKind::dot;
}

// What is contiguous in the operand is not in the result.
static bool movesLastAxis(Operation &op) {
  auto transpose = dyn_cast<TransposeOp>(op);
  ArrayRef<int64_t> permutation = transpose ? transpose.getPermutation() : ArrayRef<int64_t>();
  return !permutation.empty() && permutation.back() + 1 != int64_t(permutation.size());
}

static KernelClass classOf(FusionOp fusion) {
  auto operations = fusion.getBody().front().without_terminator();
  auto isPartOfRows = [](Operation &op) { return isPartOfElementwise(op) || reducesRows(op); };
  if (llvm::all_of(operations, isPartOfElementwise))
    return KernelClass::elementwise;
  if (llvm::all_of(operations, isPartOfRows))
    return KernelClass::row;
  if (llvm::any_of(operations, isContraction))
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
