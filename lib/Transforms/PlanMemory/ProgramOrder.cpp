// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ProgramOrder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::ad;

void ProgramOrder::number(Block &block) {
  for (Operation &op : block) {
    int64_t enter = operations.size();
    operations.push_back(&op);
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        number(nested);
    if (op.getNumRegions() > 0)
      operations.push_back(&op);
    numbers[&op] = {enter, static_cast<int64_t>(operations.size()) - 1};
  }
}

// The initial value of a carry is read when the loop starts. A use inside a loop of a value from outside
// lasts until the loop ends.
int64_t ProgramOrder::endOfUse(OpOperand &use, Block *definingBlock) const {
  int64_t end = numberOf(use.getOwner());
  for (Operation *op = use.getOwner(); op && op->getBlock() != definingBlock; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (isa_and_nonnull<LoopLikeOpInterface>(parent))
      end = std::max(end, endOf(parent));
  }
  return end;
}
