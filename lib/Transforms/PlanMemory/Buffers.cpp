// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Buffers.h"
#include "adjoint/Transforms/MemoryPlan.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-plan-memory"

using namespace mlir;
using namespace mlir::ad;

int64_t Buffers::make(Type type, int64_t at, StorageKind storage, int64_t number) {
  int64_t bytes = bytesPerUnit(cast<RankedTensorType>(type));
  LDBG() << "buffer " << planned.size() << " of " << bytes << " bytes for " << type << " in "
         << stringifyStorageKind(storage) << " " << number;
  planned.push_back({storage, number, /*offset=*/0, bytes, at, at});
  return planned.size() - 1;
}

int64_t Buffers::makePooled(Value value, int64_t at) {
  int64_t pool = pools.poolOf(value);
  return make(value.getType(), at, pool == 0 ? StorageKind::arena : StorageKind::pool, pool);
}

void Buffers::assign(Value value, int64_t buffer) {
  bufferOf[value] = buffer;
  if (buffer < 0)
    return;
  for (OpOperand &use : value.getUses())
    extend(buffer, order.endOfUse(use, value.getParentBlock()));
}

void Buffers::endWithin(int64_t buffer, Value value, Region &region) {
  planned[buffer].last = planned[buffer].first;
  for (OpOperand *use : usesThroughAliases(value))
    if (region.isAncestor(use->getOwner()->getParentRegion()))
      extend(buffer, order.endOfUse(*use, use->get().getParentBlock()));
}
