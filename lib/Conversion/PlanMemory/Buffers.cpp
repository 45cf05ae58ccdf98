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

// Whether the emitter computes all results point by point in one nest of loops.
static bool sharesOneNest(KernelOp kernel) {
  auto shapeOf = [](Type type) { return cast<RankedTensorType>(type).getShape(); };
  return llvm::all_of(kernel.getBody().front().getTerminator()->getOperands(), [&](Value result) {
    auto generic = result.getDefiningOp<linalg::GenericOp>();
    return generic && generic.getNumResults() == 1 &&
           shapeOf(result.getType()) == shapeOf(kernel.getResultTypes().front());
  });
}

// Whether every element of the value is read only to compute elements of the results at the same place: on
// all ways to the results stand elementwise operations with identity access.
static bool isReadPointwise(Value value) {
  SmallVector<Value> pending = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      if (isa<YieldOp>(use.getOwner()))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!generic || generic.getNumReductionLoops() > 0 ||
          !generic.getMatchingIndexingMap(&use).isIdentity())
        return false;
      for (Value result : generic.getResults())
        if (seen.insert(result).second)
          pending.push_back(result);
    }
  }
  return true;
}

bool ad::mayOverwrite(KernelOp kernel, unsigned argument, unsigned result) {
  BlockArgument read = kernel.getBody().getArgument(argument);
  return read.getType() == kernel.getResultTypes()[result] && sharesOneNest(kernel) && isReadPointwise(read);
}
