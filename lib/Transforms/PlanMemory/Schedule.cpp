// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Updates run as early as they can, but behind what reads the value that they replace: programs tend to
// update all parameters at the end, until when everything that the updates read stays live; and an update
// before a reader needs another place.

#include "Planner.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
class UpdateScheduler {
public:
  UpdateScheduler(func::FuncOp function, Block &block, OverwriteAnalysis &overwrites)
      : block(block), overwrites(overwrites) {
    if (auto loop = dyn_cast<scf::ForOp>(block.getParentOp())) {
      for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
        replaced[number] = argument;
      return;
    }
    for (BlockArgument argument : function.getArguments())
      if (auto result =
              function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), ADDialect::kDonatedAttr))
        replaced[result.getInt()] = argument;
  }

  void run() {
    bool moves = false;
    for (Operation &op : block)
      original[&op] = 2 * static_cast<int64_t>(original.size());
    for (Operation &op : block) {
      int64_t key = original[&op];
      if (auto launch = dyn_cast<LaunchOp>(op); launch && isUpdate(launch))
        key = keyFor(launch);
      moves |= key != original[&op];
      scheduled[&op] = key;
      keys.emplace_back(key, &op);
      if (isa<RequireOp>(op))
        guard = original[&op];
    }
    if (!moves)
      return;
    llvm::stable_sort(keys, llvm::less_first());
    for (auto [key, op] : keys)
      op->moveBefore(&block, block.end());
  }

private:
  // What it computes leaves the block: to the carries, or to the host.
  bool isUpdate(LaunchOp launch) const {
    return llvm::all_of(launch->getUsers(), [&](Operation *user) { return user == block.getTerminator(); });
  }

  // Whether the launch reads the value where it does not write: then its result never takes that place.
  bool readsElsewhere(LaunchOp launch, Value old, unsigned result) {
    for (auto [number, input] : llvm::enumerate(launch.getInputs()))
      if (input == old && !overwrites.mayOverwrite(launch, number, result))
        return true;
    return false;
  }

  // Operations have even keys, those of what runs behind them are odd.
  int64_t keyFor(LaunchOp launch) {
    int64_t own = original.lookup(launch), key = guard;
    for (Value operand : launch->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == &block)
        key = std::max(key, scheduled.lookup(producer));
    for (OpResult result : launch->getResults())
      for (OpOperand &use : result.getUses()) {
        Value old = replaced.lookup(use.getOperandNumber());
        if (!old)
          continue;
        if (readsElsewhere(launch, old, result.getResultNumber()))
          return own;
        for (Operation *user : old.getUsers())
          key = std::max(key, keyOfReader(user, launch));
      }
    if (key + 1 == own - 1)
      return own; // it is there already
    return key + 1;
  }

  // What was put behind this launch already stays there: of two updates that read each other's old value, one
  // needs another place.
  int64_t keyOfReader(Operation *user, LaunchOp launch) {
    Operation *reader = block.findAncestorOpInBlock(*user);
    if (!reader || reader == launch || reader == block.getTerminator())
      return -1;
    int64_t own = original.lookup(launch);
    if (original.lookup(reader) > own)
      return original.lookup(reader);
    return scheduled.lookup(reader) < own ? scheduled.lookup(reader) : -1;
  }

  Block &block;
  OverwriteAnalysis &overwrites;
  DenseMap<unsigned, Value> replaced; // what lies where an operand of the terminator goes
  DenseMap<Operation *, int64_t> original, scheduled;
  SmallVector<std::pair<int64_t, Operation *>> keys;
  int64_t guard = -1;
};
} // namespace

void ad::scheduleUpdates(func::FuncOp function, OverwriteAnalysis &overwrites) {
  SmallVector<Block *> blocks = {&function.getBody().front()};
  function.walk([&](scf::ForOp loop) { blocks.push_back(loop.getBody()); });
  for (Block *block : blocks)
    UpdateScheduler(function, *block, overwrites).run();
}
