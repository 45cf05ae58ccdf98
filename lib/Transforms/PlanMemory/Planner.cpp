// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The walk through the host program in the order of execution.

#include "Planner.h"
#include "ReturningBlocks.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;

void MemoryPlanner::assign() {
  bindArguments();
  bindResults();
  assign(function.getBody().front());
  reportDonations();
}

// Only the memory of donated arguments may be written, so that only that is a buffer.
void MemoryPlanner::bindArguments() {
  for (BlockArgument argument : function.getArguments()) {
    int64_t number = argument.getArgNumber();
    std::optional<int64_t> result = donatedResult(function, number);
    if (!result || !isTensor(argument))
      continue;
    donated[*result] = number;
    buffers.assign(argument, buffers.make(argument.getType(), 0, StorageKind::argument, number));
  }
}

// A value that is returned several times is the result that has memory already.
void MemoryPlanner::bindResults() {
  for (const ReturningBlock &end : findReturningBlocks(function))
    for (bool isDonated : {true, false})
      for (auto [operand, result] : llvm::zip_equal(end.block->getTerminator()->getOperands(), end.results)) {
        Value value = stripAliases(operand);
        bool isComputed = value.getParentBlock() == end.block && value.getDefiningOp() &&
                          !isa<ConstantOp>(value.getDefiningOp());
        if (result >= 0 && isTensor(value) && isComputed && (donated.count(result) > 0) == isDonated)
          returned.try_emplace(value, Returned{result, haveSameShape(operand, value)});
      }
}

void MemoryPlanner::assign(Block &block) {
  for (Operation &op : block)
    assignOp(op);
}

void MemoryPlanner::assignOp(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return assignLaunch(launch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return assignFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return assignWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return assignIf(branch);
  if (isAlias(&op)) {
    for (auto [result, operand] : llvm::zip(op.getResults(), op.getOperands()))
      buffers.assign(result, buffers.of(operand));
  } else if (isa<FeedOp>(op) || (isa<arith::SelectOp>(op) && isTensor(op.getResult(0)))) {
    // A selected tensor is copied.
    buffers.assign(op.getResult(0), bufferFor(op.getResult(0), &op));
  }
}

void MemoryPlanner::assignLaunch(LaunchOp launch) {
  for (OpResult result : launch->getResults()) {
    int64_t buffer = bufferFor(result, launch);
    buffers.assign(result, buffer);
    buffers.extend(buffer, order.numberOf(launch));
  }
}
