// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Buffers of loops and branches. A loop's carry has one place, which its result shares.

#include "Planner.h"

using namespace mlir;
using namespace mlir::ad;

// The value that `value` is an update of: the tensor into which slices are inserted, or what a loop carries
// from. Null when there is none that arises in the same block.
static Value updatedValue(Value value, Block *block) {
  Operation *writer = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  Value updated;
  if (auto launch = dyn_cast<LaunchOp>(writer)) {
    auto tied = launch.getTied();
    if (tied && (*tied)[number] >= 0)
      updated = launch.getInputs()[(*tied)[number]];
  } else if (auto loop = dyn_cast<scf::ForOp>(writer)) {
    updated = loop.getInitArgs()[number];
  }
  Operation *producer = updated ? updated.getDefiningOp() : nullptr;
  return isa_and_nonnull<LaunchOp, scf::ForOp>(producer) && producer->getBlock() == block ? updated : Value();
}

// Puts the value into the buffer of the carry if the carry's old value is dead by then.
bool MemoryPlanner::wantInCarry(Value value, BlockArgument argument, int64_t carry) {
  Operation *writer = value.getDefiningOp();
  if (!isa_and_nonnull<LaunchOp, FeedOp, scf::ForOp>(writer) || writer->getBlock() != argument.getOwner() ||
      wanted.count(value) || !pools.haveSameSize(value, argument))
    return false;
  wanted[value] = carry;
  if (diesBefore(argument, writer))
    return true;
  wanted.erase(value);
  return false;
}

// A yielded value is written straight into the carry when it arises in this block, the carry's old value is
// dead by then, and the sizes are the carry's. Of several updates one after the other all are, as long as
// each dies with the next.
void MemoryPlanner::placeYieldedInCarries(scf::ForOp loop, ArrayRef<int64_t> carries) {
  for (auto [argument, yielded, carry] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues(), carries)) {
    if (carry < 0)
      continue;
    Value value = stripAliases(yielded);
    if (!wantInCarry(value, argument, carry))
      continue;
    while (Value before = updatedValue(value, loop.getBody())) {
      if (!wantInCarry(before, argument, carry))
        break;
      if (!diesBefore(before, value.getDefiningOp())) {
        wanted.erase(before);
        break;
      }
      value = before;
    }
  }
}

// All yields happen at once: what lies where another carry is yielded to goes through a temporary.
void MemoryPlanner::assignSwaps(scf::ForOp loop, ArrayRef<int64_t> carries) {
  SmallVector<int64_t> temporaries;
  int64_t at = numberOf(loop.getBody()->getTerminator());
  for (auto [yielded, carry] : llvm::zip_equal(loop.getYieldedValues(), carries)) {
    int64_t source = isTensor(yielded) ? bufferOf.lookup_or(yielded, -1) : -1;
    bool crosses = source >= 0 && source != carry && llvm::is_contained(carries, source);
    temporaries.push_back(crosses ? makeBuffer(yielded, at, {Home::pool, pools.poolOf(yielded)}) : -1);
  }
  swaps[loop] = temporaries;
}

LogicalResult MemoryPlanner::assignFor(scf::ForOp loop) {
  SmallVector<int64_t> carries;
  for (auto [argument, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    carries.push_back(isTensor(argument) ? bufferFor(result, loop) : -1);
    if (carries.back() < 0)
      continue;
    bufferOf[argument] = carries.back();
    bufferOf[result] = carries.back();
    int64_t &last = buffers[carries.back()].last;
    last = std::max(last, endOf(loop));
    extendOverUses(result);
  }
  placeYieldedInCarries(loop, carries);
  if (failed(assign(*loop.getBody())))
    return failure();
  assignSwaps(loop, carries);
  return success();
}

// A branch writes what it yields straight into the result, unless only run time knows that it has the
// result's size.
void MemoryPlanner::placeYieldedInResults(Block &block, scf::IfOp branch) {
  for (auto [yielded, result] : llvm::zip_equal(block.getTerminator()->getOperands(), branch.getResults())) {
    auto launch = yielded.getDefiningOp<LaunchOp>();
    int64_t buffer = bufferOf.lookup_or(result, -1);
    if (buffer >= 0 && launch && launch->getBlock() == &block && !wanted.count(yielded) &&
        pools.haveSameSize(yielded, result))
      wanted[yielded] = buffer;
  }
}

LogicalResult MemoryPlanner::assignIf(scf::IfOp branch) {
  for (Value result : branch.getResults()) {
    if (!isTensor(result))
      continue;
    int64_t buffer = bufferOf[result] = bufferFor(result, branch);
    buffers[buffer].last = std::max(buffers[buffer].last, endOf(branch));
    extendOverUses(result);
  }
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    if (branch.getNumResults() > 0)
      placeYieldedInResults(region.front(), branch);
    if (failed(assign(region.front())))
      return failure();
  }
  return success();
}

LogicalResult MemoryPlanner::assignWhile(scf::WhileOp loop) {
  SmallVector<int64_t> &conditionBuffers = before[loop];
  for (Value argument : loop.getBeforeArguments()) {
    conditionBuffers.push_back(
        isTensor(argument) ? makeBuffer(argument, numberOf(loop), {Home::pool, pools.poolOf(argument)}) : -1);
    bufferOf[argument] = conditionBuffers.back();
    if (conditionBuffers.back() >= 0)
      buffers.back().last = endOf(loop);
  }
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults())) {
    int64_t buffer = isTensor(result) ? bufferFor(result, loop) : -1;
    bufferOf[argument] = buffer;
    bufferOf[result] = buffer;
    if (buffer < 0)
      continue;
    buffers[buffer].last = std::max(buffers[buffer].last, endOf(loop));
    extendOverUses(result);
  }
  if (failed(assign(*loop.getBeforeBody())))
    return failure();
  return assign(*loop.getAfterBody());
}
