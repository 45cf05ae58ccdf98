// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Facts about loops.

#include "Loops.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

std::optional<StaticBounds> ad::staticBounds(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return std::nullopt;
  if (*upper <= *lower)
    return StaticBounds{*lower, *step, 0};
  int64_t distance; // of bounds on both sides of zero
  if (llvm::SubOverflow(*upper, *lower, distance))
    return std::nullopt;
  return StaticBounds{*lower, *step, (distance - 1) / *step + 1};
}

bool ad::canBeSaved(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  else if (type.isIndex())
    return true;
  return isa<FloatType>(type) || type.isInteger(1) || type.isInteger(8) || type.isInteger(32) ||
         type.isInteger(64);
}

SmallVector<Operation *> ad::effectsWithResults(scf::ForOp loop) {
  SmallVector<Operation *> effects;
  for (Operation &op : loop.getBody()->without_terminator())
    if (op.getNumRegions() == 0 && op.getNumResults() != 0 && !isMemoryEffectFree(&op))
      effects.push_back(&op);
  return effects;
}
