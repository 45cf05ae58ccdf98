// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which buffer a value gets: one that it has to be in, that of the argument donated to it, memory of the
// host, that of an operand which dies, or a new one.

#include "Planner.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-plan-memory"

using namespace mlir;
using namespace mlir::ad;

int64_t MemoryPlanner::makeBuffer(Value value, int64_t at, StorageKind storage, int64_t number) {
  int64_t bytes = bytesPerUnit(cast<RankedTensorType>(value.getType()));
  LDBG() << "buffer " << buffers.size() << " of " << bytes << " bytes for " << value;
  buffers.push_back({storage, number, /*offset=*/0, bytes, at, at});
  return buffers.size() - 1;
}

int64_t MemoryPlanner::makePooledBuffer(Value value, int64_t at) {
  int64_t pool = pools.poolOf(value);
  return makeBuffer(value, at, pool == 0 ? StorageKind::arena : StorageKind::pool, pool);
}

// A loop whose carry starts as what lies in the buffer does not move it.
static bool startsAs(Operation *op, Value value, function_ref<bool(Value)> isInBuffer) {
  auto loop = dyn_cast<scf::ForOp>(op);
  auto result = dyn_cast<OpResult>(value);
  return loop && result && isInBuffer(loop.getInitArgs()[result.getResultNumber()]);
}

bool MemoryPlanner::mayTake(int64_t buffer, Value value, Operation *op, StringRef &refusal) {
  const PlannedBuffer &taken = buffers[buffer];
  auto type = cast<RankedTensorType>(value.getType());
  auto isInBuffer = [&](Value other) { return bufferOf.lookup_or(other, -1) == buffer; };
  auto refuse = [&](StringRef reason) {
    LDBG() << "buffer " << buffer << " is not overwritten by a result of " << op->getName() << ": " << reason;
    refusal = reason;
    return false;
  };
  int64_t pool = taken.storage == StorageKind::argument ? pools.poolOf(function.getArgument(taken.number))
                                                        : taken.number;
  if (taken.bytes != bytesPerUnit(type) || pool != pools.poolOf(value))
    return refuse("dynamic sizes may differ");
  if (llvm::any_of(op->getResults(), [&](Value other) { return other != value && isInBuffer(other); }))
    return refuse("another result is in its memory");
  int64_t at = numberOf(op);
  if (taken.last > at)
    return refuse("it is read after the result is written");
  if (taken.last < at || startsAs(op, value, isInBuffer))
    return true;
  auto launch = dyn_cast<LaunchOp>(op);
  if (!launch)
    return refuse("it is read while the result is written");
  for (auto [i, input] : llvm::enumerate(launch.getInputs()))
    if (isInBuffer(input) && !overwrites.mayOverwrite(launch, i, cast<OpResult>(value).getResultNumber()))
      return refuse("the kernel that writes the result reads other elements of it");
  return true;
}

// An operand of the launch that nothing needs afterwards and that the result may be written over.
int64_t MemoryPlanner::dyingOperand(OpResult value, LaunchOp launch) {
  auto tied = launch.getTied();
  int64_t first = tied ? (*tied)[value.getResultNumber()] : -1;
  StringRef refusal;
  auto candidate = [&](Value input) {
    int64_t buffer = isTensor(input) ? bufferOf.lookup_or(input, -1) : -1;
    return buffer >= 0 && buffers[buffer].isInPool() && mayTake(buffer, value, launch, refusal) ? buffer : -1;
  };
  if (first >= 0)
    return candidate(launch.getInputs()[first]);
  for (Value input : launch.getInputs())
    if (int64_t buffer = candidate(input); buffer >= 0)
      return buffer;
  return -1;
}

int64_t MemoryPlanner::bufferFor(Value value, Operation *op) {
  int64_t at = numberOf(op);
  if (auto it = wanted.find(value); it != wanted.end())
    return it->second;
  if (auto it = returned.find(value); it != returned.end()) {
    int64_t result = it->second;
    if (auto from = donated.find(result); from != donated.end()) {
      int64_t buffer = bufferOf.lookup(function.getArgument(from->second));
      if (mayTake(buffer, value, op, refusals[from->second]))
        return buffer;
    }
    bool hasStaticShape = cast<RankedTensorType>(value.getType()).hasStaticShape() &&
                          cast<RankedTensorType>(function.getResultTypes()[result]).hasStaticShape();
    if (hasStaticShape)
      return makeBuffer(value, at, StorageKind::result, result);
  }
  int64_t buffer = -1;
  StringRef refusal;
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    buffer = dyingOperand(cast<OpResult>(value), launch);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t start = bufferOf.lookup_or(loop.getInitArgs()[cast<OpResult>(value).getResultNumber()], -1);
    if (start >= 0 && buffers[start].isInPool() && mayTake(start, value, op, refusal))
      buffer = start;
  }
  return buffer >= 0 ? buffer : makePooledBuffer(value, at);
}

// What became of `ad.donated`.
void MemoryPlanner::reportDonations() {
  Operation *end = function.getBody().front().getTerminator();
  for (BlockArgument argument : function.getArguments()) {
    auto result = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), ADDialect::kDonatedAttr);
    if (!result)
      continue;
    Value value = stripAliases(end->getOperand(result.getInt()));
    int argumentNumber = argument.getArgNumber(), resultNumber = result.getInt();
    if (bufferOf.lookup_or(value, -1) == bufferOf.lookup(argument)) {
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
