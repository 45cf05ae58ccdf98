// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A walk through the host program in the order of execution that gives every tensor a buffer.

#include "Planner.h"
#include "adjoint/Transforms/HostProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;

LogicalResult MemoryPlanner::assign() {
  if (failed(verifyHostProgram(function, Stage::outlined)) || failed(checkSizes()))
    return failure();
  eraseMemoryPlan(function);
  scheduleUpdates(function, overwrites);
  number(function.getBody().front());
  bindArguments();
  bindResults();
  if (failed(assign(function.getBody().front())))
    return failure();
  reportDonations();
  return success();
}

LogicalResult MemoryPlanner::checkSizes() {
  WalkResult result = function.walk([](Operation *op) {
    for (Value value : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !fitsInMemory(type)) {
        op->emitError("the result of type ")
            << type << " is larger than all memory"; // launches are not the program's
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

// Only the memory of donated arguments may be written, so that only that is a buffer.
void MemoryPlanner::bindArguments() {
  for (BlockArgument argument : function.getArguments()) {
    int64_t number = argument.getArgNumber();
    auto result = function.getArgAttrOfType<IntegerAttr>(number, ADDialect::kDonatedAttr);
    if (!result || !isTensor(argument))
      continue;
    donated[result.getInt()] = number;
    bufferOf[argument] = makeBuffer(argument, 0, StorageKind::argument, number);
    extendOverUses(argument);
  }
}

// A value that is returned several times is the result that has memory already.
void MemoryPlanner::bindResults() {
  Operation *end = function.getBody().front().getTerminator();
  for (bool isDonated : {true, false})
    for (OpOperand &operand : end->getOpOperands()) {
      Value value = stripAliases(operand.get());
      int64_t result = operand.getOperandNumber();
      bool isComputed = value.getDefiningOp() && !isa<ConstantOp>(value.getDefiningOp());
      if (isTensor(value) && isComputed && (donated.count(result) > 0) == isDonated)
        returned.try_emplace(value, result);
    }
}

LogicalResult MemoryPlanner::assign(Block &block) {
  for (Operation &op : block)
    if (failed(assignOp(op)))
      return failure();
  return success();
}

LogicalResult MemoryPlanner::assignOp(Operation &op) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return assignLaunch(launch);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return assignFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return assignWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return assignIf(branch);
  if (isAlias(&op)) {
    for (auto [result, operand] : llvm::zip(op.getResults(), op.getOperands())) {
      bufferOf[result] = bufferOf.lookup_or(operand, -1);
      extendOverUses(result);
    }
    return success();
  }
  if (isa<ConstantOp>(op))
    return success(); // read-only data of the program
  // A choice between two tensors is a copy of the chosen one.
  if (isa<FeedOp>(op) || (isa<arith::SelectOp>(op) && isTensor(op.getResult(0)))) {
    bufferOf[op.getResult(0)] = bufferFor(op.getResult(0), &op);
    extendOverUses(op.getResult(0));
    return success();
  }
  return success(); // makes no tensor
}

LogicalResult MemoryPlanner::assignLaunch(LaunchOp launch) {
  for (OpResult result : launch->getResults()) {
    int64_t buffer = bufferFor(result, launch);
    bufferOf[result] = buffer;
    buffers[buffer].last = std::max(buffers[buffer].last, numberOf(launch));
    extendOverUses(result);
  }
  return success();
}
