// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Facts about buffers that the planner asks for: sizes, aliases, what a kernel may overwrite.

#include "Planner.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

static int64_t elementBytes(RankedTensorType type) {
  return std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
}

int64_t ad::tensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.hasStaticShape() ? tensor.getNumElements() * elementBytes(tensor) : -1;
}

bool ad::fitsInMemory(RankedTensorType type) {
  constexpr int64_t addressSpace = int64_t(1) << 47;
  if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0))
    return true;
  int64_t bytes = elementBytes(type);
  return llvm::all_of(type.getShape(), [&](int64_t size) {
    return !llvm::MulOverflow(bytes, size, bytes) && bytes <= addressSpace;
  });
}

bool ad::isAlias(Operation *op) { return isa<ReshapeOp, BarrierOp, tensor::CastOp>(op); }

bool ad::mayOverwrite(KernelOp kernel, unsigned argument, unsigned result) {
  BlockArgument read = kernel.getBody().getArgument(argument);
  Type written = kernel.getResultTypes()[result];
  if (read.getType() != written)
    return false;
  // All results come from one nest over one shape, without reductions or slices.
  for (Type type : kernel.getResultTypes())
    if (cast<RankedTensorType>(type).getShape() != cast<RankedTensorType>(written).getShape())
      return false;
  for (Operation &op : kernel.getBody().front()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      if (isa<tensor::InsertSliceOp, tensor::ExtractSliceOp, tensor::ExtractOp>(op))
        return false;
      continue;
    }
    if (generic.getNumReductionLoops() > 0)
      return false;
    for (OpOperand &operand : generic->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) &&
          !generic.getMatchingIndexingMap(&operand).isIdentity() &&
          (operand.get() == read || operand.get().getDefiningOp<linalg::GenericOp>()))
        return false;
    for (Operation &scalar : *generic.getBlock())
      if (auto extract = dyn_cast<tensor::ExtractOp>(scalar); extract && extract.getTensor() == read)
        return false;
  }
  return true;
}
