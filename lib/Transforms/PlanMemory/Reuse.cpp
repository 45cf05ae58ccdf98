// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The buffer of a value: that of an update in place, of the donated argument, of a result of the function, of
// an operand that dies, or a new one.

#include "Planner.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-plan-memory"

using namespace mlir;
using namespace mlir::ad;

// Whether the value is the result of a loop whose initial value is in the buffer already: reusing the buffer
// then copies nothing.
static bool startsAs(Operation *op, Value value, function_ref<bool(Value)> isInBuffer) {
  auto loop = dyn_cast<scf::ForOp>(op);
  auto result = dyn_cast<OpResult>(value);
  return loop && result && isInBuffer(loop.getInitArgs()[result.getResultNumber()]);
}

bool MemoryPlanner::mayReuse(int64_t buffer, Value value, Operation *op, StringRef &refusal) {
  const PlannedBuffer &reused = buffers[buffer];
  auto type = cast<RankedTensorType>(value.getType());
  auto isInBuffer = [&](Value other) { return buffers.of(other) == buffer; };
  auto refuse = [&](StringRef reason) {
    LDBG() << "buffer " << buffer << " is not overwritten by a result of " << op->getName() << ": " << reason;
    refusal = reason;
    return false;
  };
  int64_t pool = reused.storage == StorageKind::argument ? pools.poolOf(function.getArgument(reused.number))
                                                         : reused.number;
  if (reused.bytes != bytesPerUnit(type) || pool != pools.poolOf(value))
    return refuse("dynamic sizes may differ");
  if (llvm::any_of(op->getResults(), [&](Value other) { return other != value && isInBuffer(other); }))
    return refuse("another result is in its memory");
  int64_t at = order.numberOf(op);
  if (reused.last > at)
    return refuse("it is read after the result is written");
  if (reused.last < at || startsAs(op, value, isInBuffer))
    return true;
  auto launch = dyn_cast<LaunchOp>(op);
  if (!launch)
    return refuse("it is read while the result is written");
  for (auto [i, input] : llvm::enumerate(launch.getInputs()))
    if (isInBuffer(input) && !overwrites.mayOverwrite(launch, i, cast<OpResult>(value).getResultNumber()))
      return refuse("the kernel that writes the result reads other elements of it");
  return true;
}

// The buffer of an operand that dies and that the result may overwrite.
int64_t MemoryPlanner::dyingOperand(OpResult value, LaunchOp launch) {
  auto tied = launch.getTied();
  int64_t first = tied ? (*tied)[value.getResultNumber()] : -1;
  StringRef refusal;
  auto candidate = [&](Value input) {
    int64_t buffer = isTensor(input) ? buffers.of(input) : -1;
    return buffer >= 0 && buffers[buffer].isInPool() && mayReuse(buffer, value, launch, refusal) ? buffer
                                                                                                 : -1;
  };
  if (first >= 0)
    return candidate(launch.getInputs()[first]);
  for (Value input : launch.getInputs())
    if (int64_t buffer = candidate(input); buffer >= 0)
      return buffer;
  return -1;
}

// Memory of static size is there from the start. Memory of dynamic size is allocated where the value is
// written: as a result of its own shape, and not by a loop. Values of another static size become the result
// by reshapes through open sizes, which fail when the program runs.
bool MemoryPlanner::mayBeWrittenInPlace(Value value, Operation *op, const Returned &as) {
  auto type = cast<RankedTensorType>(value.getType());
  auto result = cast<RankedTensorType>(function.getResultTypes()[as.result]);
  bool isStatic = type.hasStaticShape();
  if (result.hasStaticShape())
    return isStatic && bytesPerUnit(type) == bytesPerUnit(result);
  // Sides of a branch write into static memory that is there before the branch.
  return as.hasShapeOfResult && (isa<LaunchOp, FeedOp>(op) || (isa<scf::IfOp>(op) && !isStatic));
}

// The buffer of the donated argument or of the result that the value is returned as; -1 for neither. Where
// the value is yielded by a branch, the result of the branch has chosen one of both before.
int64_t MemoryPlanner::bufferOfReturned(Value value, Operation *op, const Returned &as) {
  auto chosen = resultBuffers.find(as.result);
  bool isChosen = chosen != resultBuffers.end();
  auto from = donated.find(as.result);
  if (from != donated.end()) {
    int64_t buffer = buffers.of(function.getArgument(from->second));
    if ((!isChosen || chosen->second == buffer) && mayReuse(buffer, value, op, refusals[from->second]))
      return buffer;
  }
  if (!mayBeWrittenInPlace(value, op, as))
    return -1;
  if (isChosen)
    return buffers[chosen->second].storage == StorageKind::result ? chosen->second : -1;
  return resultBuffers[as.result] = buffers.make(function.getResultTypes()[as.result], order.numberOf(op),
                                                 StorageKind::result, as.result);
}

int64_t MemoryPlanner::bufferFor(Value value, Operation *op) {
  int64_t at = order.numberOf(op);
  if (int64_t chosen = updates.bufferOf(value); chosen >= 0)
    return chosen;
  if (auto as = returned.find(value); as != returned.end())
    if (int64_t chosen = bufferOfReturned(value, op, as->second); chosen >= 0)
      return chosen;
  int64_t buffer = -1;
  StringRef refusal;
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    buffer = dyingOperand(cast<OpResult>(value), launch);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t start = buffers.of(loop.getInitArgs()[cast<OpResult>(value).getResultNumber()]);
    if (start >= 0 && buffers[start].isInPool() && mayReuse(start, value, op, refusal))
      buffer = start;
  }
  return buffer >= 0 ? buffer : buffers.makePooled(value, at);
}

// Remarks whether each donated argument gave its memory to its result.
void MemoryPlanner::reportDonations() {
  Operation *end = function.getBody().front().getTerminator();
  for (BlockArgument argument : function.getArguments()) {
    std::optional<int64_t> result = donatedResult(function, argument.getArgNumber());
    if (!result)
      continue;
    Value value = stripAliases(end->getOperand(*result));
    int argumentNumber = argument.getArgNumber(), resultNumber = *result;
    if (buffers.of(value) == buffers.of(argument)) {
      remark::passed(argument.getLoc(), remark::RemarkOpts::name("donated").category("ad-memory"))
          << remark::metric("argument", argumentNumber) << remark::metric("result", resultNumber);
      continue;
    }
    StringRef reason = refusals.lookup(argumentNumber);
    if (reason.empty())
      reason = value.getDefiningOp() && !isa<ConstantOp>(value.getDefiningOp())
                   ? "the value is another result too"
                   : "the result is an argument or a constant";
    remark::missed(argument.getLoc(), remark::RemarkOpts::name("not-donated").category("ad-memory"))
        << remark::metric("argument", argumentNumber) << remark::metric("result", resultNumber)
        << remark::metric("reason", reason);
  }
}
