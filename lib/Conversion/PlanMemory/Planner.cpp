// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Assignment of buffers and their lifetimes.

#include "Planner.h"
#include "adjoint/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

void MemoryPlanner::number(Block &block) {
  static_assert(sizeof(int64_t) == 8);
  for (Operation &op : block) {
    int64_t enter = numbers.size() * 2;
    numbers[&op] = {enter, enter};
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        number(nested);
    if (op.getNumRegions() > 0)
      numbers[&op].second = numbers.size() * 2 - 1;
  }
}

int64_t MemoryPlanner::makeBuffer(Type type, int64_t first, int64_t last) {
  buffers.push_back({tensorBytes(type), first, last, -1});
  return buffers.size() - 1;
}

// A use inside a loop that the value comes into from outside lasts until the loop ends.
int64_t MemoryPlanner::endOfUse(OpOperand &use, Block *definingBlock) {
  int64_t end = numbers.lookup(use.getOwner()).second;
  for (Operation *op = use.getOwner(); op && op->getBlock() != definingBlock; op = op->getParentOp()) {
    Operation *parent = op->getParentOp();
    if (isa_and_nonnull<LoopLikeOpInterface>(parent))
      end = std::max(end, numbers.lookup(parent).second);
  }
  return end;
}

void MemoryPlanner::extendOverUses(Value value) {
  auto it = bufferOf.find(value);
  if (it == bufferOf.end() || it->second < 0)
    return;
  for (OpOperand &use : value.getUses())
    buffers[it->second].last = std::max(buffers[it->second].last, endOfUse(use, value.getParentBlock()));
}

// Whether no one reads `value` (or an alias of it) at or after `writer`, which itself may read it where it
// may overwrite it.
bool MemoryPlanner::diesBefore(Value value, LaunchOp writer) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = writer->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (!user)
      return false;
    if (isAlias(use.getOwner())) {
      for (Value alias : use.getOwner()->getResults())
        if (use.getOwner()->getNumResults() == 1 ? !diesBefore(alias, writer) : true)
          return false;
      continue;
    }
    if (user == writer) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(writer, writer.getKernelAttr());
      unsigned argument = use.getOperandNumber() - writer.getInputs().getBeginOperandIndex();
      auto tied = writer.getTied();
      for (unsigned result = 0; result < writer.getNumResults(); ++result)
        if (wanted.lookup_or(writer.getResult(result), -1) == bufferOf.lookup_or(value, -2)) {
          bool isTied = tied && (*tied)[result] == int64_t(argument);
          if (!isTied && !mayOverwrite(kernel, argument, result))
            return false;
        }
      continue;
    }
    if (!user->isBeforeInBlock(writer))
      return false;
  }
  return true;
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
    int64_t at = numbers[&op].first;
    bufferOf[op.getResult(0)] = makeBuffer(op.getResult(0).getType(), at, at);
    extendOverUses(op.getResult(0));
    return success();
  }
  // Everything else was inlined.
  if (isa<func::CallOp>(op))
    return op.emitOpError("is part of a recursion, which cannot be compiled; write a loop");
  if (llvm::any_of(op.getResults(), isTensor))
    return op.emitOpError("makes a tensor in the host program that has no place in memory; run ad-fuse and "
                          "ad-outline-kernels first");
  return success();
}

LogicalResult MemoryPlanner::assignLaunch(LaunchOp launch) {
  int64_t at = numbers[launch].first;
  auto tied = launch.getTied();
  for (OpResult result : launch->getResults()) {
    int64_t buffer = wanted.lookup_or(result, -1);
    if (buffer < 0 && tied && (*tied)[result.getResultNumber()] >= 0) {
      // Updating in place needs the old value to die here.
      Value old = launch.getInputs()[(*tied)[result.getResultNumber()]];
      int64_t candidate = bufferOf.lookup_or(old, -1);
      if (candidate >= 0 && buffers[candidate].last <= at)
        buffer = candidate;
    }
    if (buffer < 0)
      buffer = makeBuffer(result.getType(), at, at);
    bufferOf[result] = buffer;
    extendOverUses(result);
  }
  return success();
}

// A yielded value is written straight into the carry when it is made in this block, goes nowhere else, and
// the old value of the carry is dead by then.
void MemoryPlanner::placeYieldedInCarries(scf::ForOp loop, ArrayRef<int64_t> carries) {
  for (auto [argument, yielded, carry] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues(), carries)) {
    Value value = yielded;
    while (Operation *op = value.getDefiningOp()) {
      if (!isAlias(op) || op->getNumResults() != 1)
        break;
      value = op->getOperand(0);
    }
    auto launch = value.getDefiningOp<LaunchOp>();
    if (!launch || launch->getBlock() != loop.getBody() || wanted.count(value))
      continue;
    wanted[value] = carry;
    bufferOf[argument] = carry;
    if (!diesBefore(argument, launch))
      wanted.erase(value);
  }
}

// Yielding one carry as another needs a temporary: all yields happen at once.
void MemoryPlanner::assignSwaps(scf::ForOp loop, ArrayRef<int64_t> carries) {
  SmallVector<int64_t> temporaries;
  for (auto [yielded, carry] : llvm::zip_equal(loop.getYieldedValues(), carries)) {
    int64_t source = isTensor(yielded) ? bufferOf.lookup_or(yielded, -1) : -1;
    bool crosses = source >= 0 && source != carry && llvm::is_contained(carries, source);
    int64_t end = numbers[loop].second;
    temporaries.push_back(
        crosses ? makeBuffer(yielded.getType(), numbers[loop.getBody()->getTerminator()].first, end) : -1);
  }
  swaps[loop] = temporaries;
}

LogicalResult MemoryPlanner::assignFor(scf::ForOp loop) {
  auto [enter, exit] = numbers[loop];
  SmallVector<int64_t> carries;
  for (auto [argument, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    carries.push_back(isTensor(argument) ? makeBuffer(argument.getType(), enter, exit) : -1);
    bufferOf[argument] = carries.back();
    bufferOf[result] = carries.back();
    extendOverUses(result);
  }
  placeYieldedInCarries(loop, carries);
  if (failed(assign(*loop.getBody())))
    return failure();
  assignSwaps(loop, carries);
  return success();
}

void MemoryPlanner::placeYieldedInResults(Block &block, ArrayRef<int64_t> results) {
  for (auto [yielded, buffer] : llvm::zip_equal(block.getTerminator()->getOperands(), results)) {
    auto launch = yielded.getDefiningOp<LaunchOp>();
    if (buffer >= 0 && launch && launch->getBlock() == &block && !wanted.count(yielded))
      wanted[yielded] = buffer;
  }
}

LogicalResult MemoryPlanner::assignIf(scf::IfOp branch) {
  auto [enter, exit] = numbers[branch];
  SmallVector<int64_t> results;
  for (Value result : branch.getResults()) {
    results.push_back(isTensor(result) ? makeBuffer(result.getType(), enter, exit) : -1);
    bufferOf[result] = results.back();
    extendOverUses(result);
  }
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    if (!results.empty())
      placeYieldedInResults(region.front(), results);
    if (failed(assign(region.front())))
      return failure();
  }
  return success();
}

LogicalResult MemoryPlanner::assignWhile(scf::WhileOp loop) {
  auto [enter, exit] = numbers[loop];
  SmallVector<int64_t> &conditionBuffers = before[loop];
  SmallVector<int64_t> arguments;
  for (Value argument : loop.getBeforeArguments()) {
    arguments.push_back(isTensor(argument) ? makeBuffer(argument.getType(), enter, exit) : -1);
    bufferOf[argument] = arguments.back();
  }
  conditionBuffers = arguments;
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults())) {
    int64_t buffer = isTensor(result) ? makeBuffer(result.getType(), enter, exit) : -1;
    bufferOf[argument] = buffer;
    bufferOf[result] = buffer;
    extendOverUses(result);
  }
  if (failed(assign(*loop.getBeforeBody())))
    return failure();
  return assign(*loop.getAfterBody());
}

LogicalResult MemoryPlanner::checkSizes() {
  WalkResult result = function.walk([](Operation *op) {
    for (Value value : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !fitsInMemory(type)) {
        op->emitOpError("makes a tensor that is larger than all memory: ") << type;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult MemoryPlanner::run() {
  if (function.getBody().empty())
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError(
        "has unstructured control flow; the planner expects scf.for, scf.if and scf.while");
  if (failed(checkSizes()))
    return failure();
  number(function.getBody().front());
  if (failed(assign(function.getBody().front())))
    return failure();
  placeFirstFit();
  if (failed(checkRaces()))
    return failure();
  writeAttributes();
  return success();
}

namespace {
class PlanMemoryPass : public ad::impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    if (failed(MemoryPlanner(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
