// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Buffers.h"
#include "adjoint/Transforms/MemoryPlan.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-plan-memory"

using namespace mlir;
using namespace mlir::ad;

int64_t Buffers::make(Value value, int64_t at, StorageKind storage, int64_t number) {
  int64_t bytes = bytesPerUnit(cast<RankedTensorType>(value.getType()));
  LDBG() << "buffer " << planned.size() << " of " << bytes << " bytes for " << value;
  planned.push_back({storage, number, /*offset=*/0, bytes, at, at});
  return planned.size() - 1;
}

int64_t Buffers::makeResult(Type type, int64_t at, int64_t number) {
  int64_t bytes = bytesPerUnit(cast<RankedTensorType>(type));
  LDBG() << "buffer " << planned.size() << " in the memory of result " << number;
  planned.push_back({StorageKind::result, number, /*offset=*/0, bytes, at, at});
  return planned.size() - 1;
}

int64_t Buffers::makePooled(Value value, int64_t at) {
  int64_t pool = pools.poolOf(value);
  return make(value, at, pool == 0 ? StorageKind::arena : StorageKind::pool, pool);
}

void Buffers::assign(Value value, int64_t buffer) {
  bufferOf[value] = buffer;
  if (buffer < 0)
    return;
  for (OpOperand &use : value.getUses())
    extend(buffer, order.endOfUse(use, value.getParentBlock()));
}

void Buffers::restrict(int64_t buffer, Value value, Region &region) {
  planned[buffer].last = planned[buffer].first;
  SmallVector<Value> names = {value};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (OpOperand &use : name.getUses()) {
      Operation *user = use.getOwner();
      if (isAlias(user))
        names.push_back(user->getResult(use.getOperandNumber()));
      if (region.isAncestor(user->getParentRegion()))
        extend(buffer, order.endOfUse(use, name.getParentBlock()));
    }
  }
}
