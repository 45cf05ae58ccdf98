// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Facts about loops.

#include "Loops.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

std::optional<StaticBounds> ad::staticBounds(scf::ForOp loop) {
  std::optional<LoopRange> range = staticRange(loop);
  if (!range || range->tripCount() > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return StaticBounds{range->lower, range->step, static_cast<int64_t>(range->tripCount())};
}

bool ad::canBeSaved(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  else if (type.isIndex() || type.isInteger())
    return type.isIndex() || type.getIntOrFloatBitWidth() <= 64;
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
