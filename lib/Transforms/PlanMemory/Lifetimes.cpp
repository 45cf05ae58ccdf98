// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// When values are needed.

#include "Planner.h"

using namespace mlir;
using namespace mlir::ad;

void MemoryPlanner::number(Block &block) {
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

// What a loop starts with is read when it starts. A use inside a loop that the value comes into from outside
// lasts until the loop ends.
int64_t MemoryPlanner::endOfUse(OpOperand &use, Block *definingBlock) {
  int64_t end = numberOf(use.getOwner());
  for (Operation *op = use.getOwner(); op && op->getBlock() != definingBlock; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (isa_and_nonnull<LoopLikeOpInterface>(parent))
      end = std::max(end, endOf(parent));
  }
  return end;
}

void MemoryPlanner::extendOverUses(Value value) {
  int64_t buffer = bufferOf.lookup_or(value, -1);
  if (buffer < 0)
    return;
  for (OpOperand &use : value.getUses())
    buffers[buffer].last = std::max(buffers[buffer].last, endOfUse(use, value.getParentBlock()));
}

// Whether what the use belongs to may write the results that are wanted in the buffer of `value` over it.
bool MemoryPlanner::mayWriteOver(OpOperand &use, Value value, int64_t buffer) {
  Operation *writer = use.getOwner();
  auto launch = dyn_cast<LaunchOp>(writer);
  auto loop = dyn_cast<scf::ForOp>(writer);
  for (OpResult result : writer->getResults()) {
    if (wanted.lookup_or(result, -1) != buffer)
      continue;
    // A carry that starts as the value finds it in place.
    if (loop && stripAliases(loop.getInitArgs()[result.getResultNumber()]) != value)
      return false;
    unsigned first = launch ? launch.getInputs().getBeginOperandIndex() : 0;
    if (launch && !overwrites.mayOverwrite(launch, use.getOperandNumber() - first, result.getResultNumber()))
      return false;
  }
  return launch || loop;
}

bool MemoryPlanner::diesBefore(Value value, Operation *writer, int64_t buffer, bool inBlock) {
  SmallVector<Value> names = {value};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (OpOperand &use : name.getUses()) {
      Operation *user = use.getOwner();
      if (isAlias(user)) {
        names.push_back(user->getResult(use.getOperandNumber()));
        continue;
      }
      Operation *ancestor = writer->getBlock()->findAncestorOpInBlock(*user);
      if (!ancestor && inBlock)
        continue;
      if (!ancestor)
        return false;
      if (ancestor->isBeforeInBlock(writer) ||
          (ancestor == writer && name == value && updatedInside.contains({writer, value})))
        continue;
      if (user != writer || !mayWriteOver(use, value, buffer))
        return false;
    }
  }
  return true;
}
