// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"

using namespace mlir;
using namespace mlir::ad;

StringRef ad::howToReach(Stage stage) {
  switch (stage) {
  case Stage::decomposed:
    return "run --ad-to-cpu-frontend first";
  case Stage::fused:
    return "run --ad-to-cpu-frontend --ad-to-cpu-fusion first, or for a GPU --ad-to-gpu-frontend "
           "--ad-to-gpu-fusion";
  case Stage::lowered:
    return "run --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg first, or for a GPU "
           "--ad-to-gpu-frontend --ad-to-gpu-fusion --convert-ad-to-linalg";
  case Stage::outlined:
    return "run --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-outline-kernels first, "
           "or for "
           "a GPU --ad-to-gpu-frontend --ad-to-gpu-fusion --convert-ad-to-linalg --ad-outline-kernels";
  case Stage::planned:
    return "run --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels first, or for a GPU "
           "--ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels";
  case Stage::emitted:
    return "run --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-to-gpu-code first";
  }
  return "";
}

bool ad::isInKernel(Operation *op) {
  return op->getParentOfType<FusionOp>() || op->getParentOfType<KernelOp>();
}

bool ad::isOutsideKernels(Operation *op, Stage stage) {
  return isa<FusableOpInterface>(op) && !isInKernel(op) && (stage < Stage::lowered || !isa<ReshapeOp>(op));
}

static LogicalResult requireStageOf(Operation *op, Stage stage) {
  if (stage >= Stage::fused && isa<VjpOp, ValueAndGradOp, StopGradientOp>(op))
    return op->emitOpError("is a differentiation operation; ") << howToReach(stage);
  if (stage >= Stage::fused && isOutsideKernels(op, stage))
    return op->emitOpError("is not in an ad.fusion; ") << howToReach(stage);
  bool hasCode = isa<NamedKernelOpInterface>(op); // that of its kernel class
  if (stage >= Stage::lowered && isa<FusableOpInterface>(op) && !hasCode &&
      !isOutsideKernels(op, Stage::fused))
    return op->emitOpError("is not lowered to linalg; ") << howToReach(stage);
  if (stage >= Stage::outlined && isa<FusionOp>(op))
    return op->emitOpError("is not a kernel outside of the program yet; ") << howToReach(stage);
  if (stage >= Stage::emitted && isa<KernelOp>(op))
    return op->emitOpError("is a kernel without code; ") << howToReach(stage);
  return success();
}

LogicalResult ad::requireStage(Operation *root, Stage stage) {
  WalkResult result =
      root->walk<WalkOrder::PreOrder>([&](Operation *op) { return WalkResult(requireStageOf(op, stage)); });
  return failure(result.wasInterrupted());
}
