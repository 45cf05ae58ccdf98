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

void MemoryPlanner::assignIf(scf::IfOp branch) {
  SmallVector<int64_t> results;
  for (Value result : branch.getResults()) {
    results.push_back(isTensor(result) ? bufferFor(result, branch) : -1);
    if (results.back() < 0)
      continue;
    buffers.assign(result, results.back());
    buffers.extend(results.back(), order.endOf(branch));
  }
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    updates.chooseInBranch(region.front(), branch.getResults(), results);
    assign(region.front());
  }
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
