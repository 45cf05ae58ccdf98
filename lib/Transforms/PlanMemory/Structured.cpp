// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Buffers of loops and branches. A carry and the result of its loop have one buffer.

#include "Planner.h"

using namespace mlir;
using namespace mlir::ad;

// All yields happen at once: a value in the buffer of another carry is copied through a temporary buffer.
void MemoryPlanner::makeTemporaries(scf::ForOp loop, ArrayRef<int64_t> carries) {
  SmallVector<int64_t> &ofLoop = temporaries[loop];
  int64_t at = order.numberOf(loop.getBody()->getTerminator());
  for (auto [yielded, carry] : llvm::zip_equal(loop.getYieldedValues(), carries)) {
    int64_t source = isTensor(yielded) ? buffers.of(yielded) : -1;
    bool crosses = source >= 0 && source != carry && llvm::is_contained(carries, source);
    ofLoop.push_back(crosses ? buffers.makePooled(yielded, at) : -1);
  }
}

void MemoryPlanner::assignFor(scf::ForOp loop) {
  SmallVector<int64_t> carries;
  for (auto [argument, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    carries.push_back(isTensor(argument) ? bufferFor(result, loop) : -1);
    if (carries.back() < 0)
      continue;
    buffers.assign(argument, carries.back());
    buffers.assign(result, carries.back());
    buffers.extend(carries.back(), order.endOf(loop));
  }
  updates.chooseInLoop(loop, carries);
  assign(*loop.getBody());
  makeTemporaries(loop, carries);
}

// Whether the values that both sides yield are made there.
static bool yieldsComputed(scf::IfOp branch) {
  return llvm::all_of(branch->getRegions(), [](Region &region) {
    return llvm::all_of(region.front().getTerminator()->getOperands(),
                        [&](Value yielded) { return stripAliases(yielded).getParentRegion() == &region; });
  });
}

// A branch that ends the function has the memory of a donated argument for its result: both sides may write
// it once they no longer read it, and copy there at the end what they have written elsewhere. No side yields
// an argument then, which a copy would overwrite before another one reads it.
bool MemoryPlanner::mayHaveMemoryOf(BlockArgument argument, OpResult result) {
  auto branch = cast<scf::IfOp>(result.getOwner());
  StringRef &refusal = refusals[argument.getArgNumber()];
  if (!pools.haveSameSize(result, argument))
    refusal = "dynamic sizes may differ";
  else if (!yieldsComputed(branch))
    refusal = "a side of the branch yields a value from before it";
  else if (buffers[buffers.of(argument)].last > order.endOf(branch))
    refusal = "it is read after the branch";
  else
    return true;
  return false;
}

int64_t MemoryPlanner::bufferOfBranch(OpResult result) {
  auto as = returned.find(result);
  if (as == returned.end() || resultBuffers.contains(as->second.result))
    return bufferFor(result, result.getOwner());
  auto from = donated.find(as->second.result);
  BlockArgument argument = from == donated.end() ? BlockArgument() : function.getArgument(from->second);
  int64_t buffer = argument && mayHaveMemoryOf(argument, result) ? buffers.of(argument)
                                                                 : bufferFor(result, result.getOwner());
  resultBuffers[as->second.result] = buffer;
  return buffer;
}

void MemoryPlanner::assignSide(scf::IfOp branch, Region &region, ArrayRef<int64_t> results) {
  // What the function returns in the memory of a result or an argument is not chosen here, but by `returned`.
  SmallVector<int64_t> others(results);
  for (auto [result, buffer] : llvm::zip_equal(branch.getResults(), others))
    if (buffer >= 0 && returned.contains(result) && !buffers[buffer].isInPool())
      buffer = -1;
  updates.chooseInBranch(region.front(), branch.getResults(), others);
  // What the other side reads of a donated argument may be overwritten here.
  SmallVector<std::pair<int64_t, int64_t>> ends;
  for (auto [result, number] : donated) {
    BlockArgument argument = function.getArgument(number);
    int64_t buffer = buffers.of(argument);
    if (!llvm::is_contained(results, buffer))
      continue;
    ends.emplace_back(buffer, buffers[buffer].last);
    buffers.endWithin(buffer, argument, region);
  }
  assign(region.front());
  for (auto [buffer, end] : ends)
    buffers.extend(buffer, end);
}

void MemoryPlanner::assignIf(scf::IfOp branch) {
  SmallVector<int64_t> results;
  for (OpResult result : branch->getResults()) {
    results.push_back(isTensor(result) ? bufferOfBranch(result) : -1);
    if (results.back() < 0)
      continue;
    buffers.assign(result, results.back());
    buffers.extend(results.back(), order.endOf(branch));
  }
  for (Region &region : branch->getRegions())
    if (!region.empty())
      assignSide(branch, region, results);
}

void MemoryPlanner::assignWhile(scf::WhileOp loop) {
  for (Value argument : loop.getBeforeArguments()) {
    if (!isTensor(argument))
      continue;
    int64_t buffer = buffers.makePooled(argument, order.numberOf(loop));
    buffers.assign(argument, buffer);
    buffers.extend(buffer, order.endOf(loop));
  }
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults())) {
    if (!isTensor(result))
      continue;
    int64_t buffer = bufferFor(result, loop);
    buffers.assign(argument, buffer);
    buffers.assign(result, buffer);
    buffers.extend(buffer, order.endOf(loop));
  }
  assign(*loop.getBeforeBody());
  assign(*loop.getAfterBody());
}
