// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules in-place updates as early as possible, but after the last read of the value that they replace.
// Programs tend to update all parameters at the end, which keeps the operands of all updates live until then;
// an update before a read of the old value would need another buffer.

#include "Planner.h"
#include "ReturningBlocks.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
class UpdateScheduler {
public:
  UpdateScheduler(scf::ForOp loop, OverwriteAnalysis &overwrites)
      : block(*loop.getBody()), overwrites(overwrites) {
    for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      replaced[number] = argument;
  }

  UpdateScheduler(func::FuncOp function, const ReturningBlock &end, OverwriteAnalysis &overwrites)
      : block(*end.block), overwrites(overwrites) {
    for (BlockArgument argument : function.getArguments()) {
      std::optional<int64_t> result = donatedResult(function, argument.getArgNumber());
      for (auto [operand, number] : llvm::enumerate(end.results))
        if (result == number)
          replaced[operand] = argument;
    }
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
      if (RequireOp::isOneOrHasOne(&op))
        guard = original[&op];
    }
    if (!moves)
      return;
    // Operations with one key stay in order. Not llvm::stable_sort, for which headers of GCC 12 warn.
    llvm::sort(keys, [&](const auto &a, const auto &b) {
      return std::pair(a.first, original[a.second]) < std::pair(b.first, original[b.second]);
    });
    for (auto [key, op] : keys)
      op->moveBefore(&block, block.end());
  }

private:
  // Its results leave the block, as carries or as results of the function.
  bool isUpdate(LaunchOp launch) const {
    return llvm::all_of(launch->getUsers(), [&](Operation *user) { return user == block.getTerminator(); });
  }

  // Whether the launch reads elements of the value that it does not write: then its result never overwrites
  // the value.
  bool readsElsewhere(LaunchOp launch, Value old, unsigned result) {
    for (auto [number, input] : llvm::enumerate(launch.getInputs()))
      if (input == old && !overwrites.mayOverwrite(launch, number, result))
        return true;
    return false;
  }

  // Launches are sorted by these keys. Operations that stay have even keys, so that the odd one after each is
  // free for a launch that follows it.
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
      return own; // it is scheduled there already
    return key + 1;
  }

  // An operation that was scheduled after this launch stays there: of two updates that read each other's old
  // value, one needs another buffer.
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
  DenseMap<unsigned, Value> replaced; // by operand of the terminator, the value whose buffer it overwrites
  DenseMap<Operation *, int64_t> original, scheduled;
  SmallVector<std::pair<int64_t, Operation *>> keys;
  int64_t guard = -1;
};
} // namespace

void ad::scheduleUpdates(func::FuncOp function, OverwriteAnalysis &overwrites) {
  for (const ReturningBlock &end : findReturningBlocks(function))
    UpdateScheduler(function, end, overwrites).run();
  function.walk([&](scf::ForOp loop) { UpdateScheduler(loop, overwrites).run(); });
}
