// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Buffers of loops and branches. A loop's carry has one place, which its result shares.

#include "Planner.h"

using namespace mlir;
using namespace mlir::ad;

static Value sourceOfBranch(scf::IfOp branch, unsigned number);

// The value that `value` is an update of: the tensor into which slices are inserted, what a loop carries
// from, or what both sides of a branch update. Null when there is none.
static Value sourceOf(Value value) {
  Operation *writer = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto launch = dyn_cast<LaunchOp>(writer)) {
    auto tied = launch.getTied();
    return tied && (*tied)[number] >= 0 ? launch.getInputs()[(*tied)[number]] : Value();
  }
  if (auto loop = dyn_cast<scf::ForOp>(writer))
    return loop.getInitArgs()[number];
  auto branch = dyn_cast<scf::IfOp>(writer);
  return branch ? sourceOfBranch(branch, number) : Value();
}

static Value sourceOfBranch(scf::IfOp branch, unsigned number) {
  Value common;
  for (Region &region : branch->getRegions()) {
    Value value = region.empty() ? Value() : region.front().getTerminator()->getOperand(number);
    while (value && value.getParentRegion() == &region)
      value = sourceOf(value);
    if (!value || (common && value != common))
      return Value();
    common = value;
  }
  return common;
}

// Puts what both sides of a branch make of one tensor into the buffer of the branch's result, if they update
// it in place.
bool MemoryPlanner::wantInBranch(scf::IfOp branch, unsigned number, int64_t buffer) {
  Value source = sourceOfBranch(branch, number);
  if (!source || !isTensor(source))
    return false;
  auto before = wanted;
  for (Region &region : branch->getRegions()) {
    Value value = region.front().getTerminator()->getOperand(number);
    while (value != source) {
      Value updated = sourceOf(value);
      auto inner = dyn_cast<scf::IfOp>(value.getDefiningOp());
      bool isFree = wanted.try_emplace(value, buffer).second && pools.haveSameSize(value, source);
      if (!isFree || (inner && !wantInBranch(inner, cast<OpResult>(value).getResultNumber(), buffer)) ||
          !diesBefore(updated, value.getDefiningOp(), buffer, /*inBlock=*/updated == source)) {
        wanted = before;
        return false;
      }
      value = updated;
    }
  }
  updatedInside.insert({branch, source});
  return true;
}

// Puts the value into the buffer of the carry if the carry's old value is dead by then.
bool MemoryPlanner::wantInCarry(Value value, BlockArgument argument, int64_t carry) {
  Operation *writer = value.getDefiningOp();
  if (!isa_and_nonnull<LaunchOp, FeedOp, scf::ForOp, scf::IfOp>(writer) ||
      writer->getBlock() != argument.getOwner() || wanted.count(value) ||
      !pools.haveSameSize(value, argument))
    return false;
  auto before = wanted;
  if (auto branch = dyn_cast<scf::IfOp>(writer);
      branch && !wantInBranch(branch, cast<OpResult>(value).getResultNumber(), carry))
    return false;
  wanted[value] = carry;
  if (diesBefore(argument, writer, carry))
    return true;
  wanted = before;
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
    while (Value before = sourceOf(value)) {
      auto known = wanted;
      if (!wantInCarry(before, argument, carry))
        break;
      if (!diesBefore(before, value.getDefiningOp(), carry)) {
        wanted = known;
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
    temporaries.push_back(crosses ? makePooledBuffer(yielded, at) : -1);
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
    conditionBuffers.push_back(isTensor(argument) ? makePooledBuffer(argument, numberOf(loop)) : -1);
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
