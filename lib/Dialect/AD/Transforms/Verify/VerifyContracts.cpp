// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The contracts between layers as passes: each names the operation that breaks the contract, and the pass
// that establishes it.

#include "../TensorCores.h"
#include "VerifyReproducible.h"

#include "../../IR/Attributes/NamedKernelAttribute.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::ad {
#define GEN_PASS_DEF_VERIFYAUTOCASTPASS
#define GEN_PASS_DEF_VERIFYDIFFERENTIATEDPASS
#define GEN_PASS_DEF_VERIFYFUSEDPASS
#define GEN_PASS_DEF_VERIFYLINALGPASS
#define GEN_PASS_DEF_VERIFYNUMERICSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Checks every operation below `root` and reports all that fail, not only the first.
// Debug output has the flag of the pass as its type.
static LogicalResult checkAll(Pass &pass, Operation *root, function_ref<LogicalResult(Operation *)> check) {
  int64_t checked = 0, wrong = 0;
  root->walk([&](Operation *op) {
    wrong += check(op).failed();
    ++checked;
  });
  LDBG(pass.getArgument().data(), 1) << wrong << " of " << checked << " operations break the contract";
  return failure(wrong > 0);
}

static LogicalResult checkBroadcasts(Operation *op, SizeAnalysis &sizes) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> tensors;
  for (Value operand : op->getOperands())
    if (auto operandType = dyn_cast<RankedTensorType>(operand.getType())) {
      if (operandType.getShape() != type.getShape())
        return op->emitOpError("broadcasts ")
               << operandType << " to " << type
               << " implicitly; run --ad-to-cpu-frontend first, or --ad-set-numerics alone";
      tensors.push_back(operand);
    }
  for (Value tensor : tensors)
    if (!sizes.surelySameShape(tensor, tensors.front()))
      return op->emitOpError("has operands whose sizes may differ at run time; run --ad-to-cpu-frontend "
                             "first, or --ad-set-numerics alone");
  return success();
}

// The instruction that the program writes on a product.
static LogicalResult checkInstruction(Operation *op) {
  auto given = op->getAttrOfType<InstructionAttr>(kInstructionAttr);
  if (!given)
    return success();
  if (!allows(op, Permissions::mma))
    return op->emitOpError("has ") << kInstructionAttr
                                   << ", but lacks the permission mma; give it, or leave the choice "
                                   << "to --ad-choose-instructions";
  bool bytes = llvm::all_of(op->getOperands().take_front(2), [](Value operand) {
    Type element = getElementTypeOrSelf(operand.getType());
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  });
  if (StringRef reason = whyNoTensorCores(op); !reason.empty())
    return op->emitOpError("has ") << kInstructionAttr << ", but tensor cores cannot compute it: " << reason
                                   << "; remove " << kInstructionAttr;
  InstructionAttr usual = bytes ? InstructionAttr::ofByteFloats(op->getContext())
                                : InstructionAttr::ofShortFloats(op->getContext());
  if (given.getK() != usual.getK())
    return op->emitOpError("has ") << kInstructionAttr << " = " << given << ", expected " << usual
                                   << (bytes ? ", or another promote or chain, for 8-bit floats"
                                             : ", or one with promote or chain, for these operands")
                                   << "; or leave the choice to --ad-choose-instructions";
  return success();
}

static LogicalResult checkNumerics(Operation *op, SizeAnalysis &sizes) {
  if (op->hasAttr(kNamedKernelAttr))
    return op->emitOpError("has ") << kNamedKernelAttr << ", which means nothing from here on; run "
                                   << "--ad-to-cpu-frontend first, or --ad-exchange-kernels alone";
  auto numerics = dyn_cast<NumericsOpInterface>(op);
  if (!numerics && isa<ReductionOpInterface>(op))
    return op->emitOpError("is a reduction without NumericsOpInterface, which gives the order of its sums");
  if (!numerics)
    return success();
  if (!numerics.hasPermissions())
    return op->emitOpError("has no permissions; run --ad-to-cpu-frontend first, or --ad-set-numerics alone");
  if (failed(checkInstruction(op)))
    return failure();
  if (numerics.getCanonicalOrder() && !numerics.getSummationOrder())
    return op->emitOpError(
        "has no summation order; run --ad-to-cpu-frontend first, or --ad-set-numerics alone");
  return isElementwiseOp(op) ? checkBroadcasts(op, sizes) : success();
}

static LogicalResult checkDifferentiated(Operation *op) {
  if (isa<VjpOp, ValueAndGradOp, StopGradientOp>(op))
    return op->emitOpError("is a differentiation operation; run --ad-to-cpu-frontend first, "
                           "or --ad-differentiate alone");
  return success();
}

static LogicalResult checkAutocast(Operation *op) {
  if (op->hasAttr(kPrecisionAttr))
    return op->emitOpError("has ")
           << kPrecisionAttr
           << ", which means nothing from here on; run --ad-to-cpu-frontend first, or "
              "--ad-autocast alone";
  return success();
}

static LogicalResult checkFused(Operation *op) {
  if (isOutsideKernels(op, Stage::fused))
    return op->emitOpError("is not in an ad.fusion; ") << howToReach(Stage::fused);
  if (auto fusion = dyn_cast<FusionOp>(op); fusion && !fusion.getKernel())
    return op->emitOpError("has no kernel class; run --ad-select-kernels first, as --ad-to-cpu-fusion does");
  return success();
}

// A reshape of the host program moves nothing and stays. The code of a named kernel is that of its kernel
// class.
static LogicalResult checkLinalg(Operation *op) {
  if (isa<FusableOpInterface>(op) && !isa<NamedKernelOpInterface>(op) &&
      (isInKernel(op) || !isa<ReshapeOp>(op)))
    return op->emitOpError("is not lowered to linalg; ") << howToReach(Stage::lowered);
  return isa<FusionOp, KernelOp>(op) ? verifyLinalgBody(op) : success();
}

namespace {
struct VerifyNumericsPass : ad::impl::VerifyNumericsPassBase<VerifyNumericsPass> {
  void runOnOperation() override {
    SizeAnalysis sizes;
    if (failed(verifyReproducible(getOperation())) ||
        failed(checkAll(*this, getOperation(), [&](Operation *op) { return checkNumerics(op, sizes); })))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct VerifyDifferentiatedPass : ad::impl::VerifyDifferentiatedPassBase<VerifyDifferentiatedPass> {
  void runOnOperation() override {
    if (failed(checkAll(*this, getOperation(), checkDifferentiated)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct VerifyAutocastPass : ad::impl::VerifyAutocastPassBase<VerifyAutocastPass> {
  void runOnOperation() override {
    if (failed(checkAll(*this, getOperation(), checkAutocast)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct VerifyFusedPass : ad::impl::VerifyFusedPassBase<VerifyFusedPass> {
  void runOnOperation() override {
    if (failed(checkAll(*this, getOperation(), checkFused)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

struct VerifyLinalgPass : ad::impl::VerifyLinalgPassBase<VerifyLinalgPass> {
  void runOnOperation() override {
    if (failed(checkAll(*this, getOperation(), checkLinalg)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
