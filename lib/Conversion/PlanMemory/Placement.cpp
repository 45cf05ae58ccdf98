// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Places of buffers in the arena, the race checker that proves them, and the attributes that hold them.

#include "Planner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

// A cache line, and the widest vector register.
static constexpr int64_t kAlignment = 64;

static bool liveTogether(const PlannedBuffer &a, const PlannedBuffer &b) {
  return a.first <= b.last && b.first <= a.last;
}

// First fit in the order of size, the largest first: big buffers have the least choice.
void MemoryPlanner::placeFirstFit() {
  SmallVector<PlannedBuffer *> order;
  for (PlannedBuffer &buffer : buffers)
    if (buffer.bytes >= 0)
      order.push_back(&buffer);
  // Ties keep the order of the program: pointers into one vector ascend.
  llvm::sort(order, [](auto *a, auto *b) { return a->bytes != b->bytes ? a->bytes > b->bytes : a < b; });
  SmallVector<PlannedBuffer *> placed; // by offset
  for (PlannedBuffer *buffer : order) {
    int64_t bytes = llvm::alignTo(std::max<int64_t>(buffer->bytes, 1), kAlignment), offset = 0;
    for (PlannedBuffer *other : placed) {
      if (!liveTogether(*buffer, *other))
        continue;
      if (offset + bytes <= other->offset)
        break;
      offset = std::max<int64_t>(
          offset, llvm::alignTo(other->offset + std::max<int64_t>(other->bytes, 1), kAlignment));
    }
    buffer->offset = offset;
    arenaBytes = std::max(arenaBytes, offset + bytes);
    placed.insert(llvm::upper_bound(placed, buffer, [](auto *a, auto *b) { return a->offset < b->offset; }),
                  buffer);
  }
}

LogicalResult MemoryPlanner::checkRaces() {
  SmallVector<PlannedBuffer *> order;
  for (PlannedBuffer &buffer : buffers)
    if (buffer.offset >= 0)
      order.push_back(&buffer);
  llvm::sort(order, [](auto *a, auto *b) { return a->offset < b->offset; });
  for (auto [i, a] : llvm::enumerate(order))
    for (PlannedBuffer *b : ArrayRef(order).drop_front(i + 1)) {
      if (b->offset >= a->offset + a->bytes)
        break;
      if (liveTogether(*a, *b))
        return function.emitOpError(
                   "memory plan is wrong: two buffers that are live together overlap at offset ")
               << b->offset;
    }
  WalkResult result = function.walk([&](LaunchOp launch) {
    return failed(checkLaunch(launch)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

// No kernel writes what it still reads, and no two results share a buffer.
LogicalResult MemoryPlanner::checkLaunch(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
  auto tied = launch.getTied();
  SmallVector<int64_t> written;
  for (OpResult result : launch->getResults()) {
    int64_t buffer = bufferOf.lookup(result);
    if (llvm::is_contained(written, buffer))
      return launch.emitOpError("memory plan is wrong: two results share a buffer");
    written.push_back(buffer);
    for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
      if (!isa<RankedTensorType>(input.getType()) || bufferOf.lookup_or(input, -1) != buffer)
        continue;
      bool isTied = tied && (*tied)[result.getResultNumber()] == int64_t(i);
      if (!isTied && !mayOverwrite(kernel, i, result.getResultNumber()))
        return launch.emitOpError(
            "memory plan is wrong: the kernel overwrites an operand that it reads elsewhere");
    }
  }
  return success();
}

void MemoryPlanner::writeAttributes() {
  Builder builder(function.getContext());
  SmallVector<int64_t> places;
  for (const PlannedBuffer &buffer : buffers) {
    places.push_back(buffer.offset);
    places.push_back(buffer.bytes);
  }
  function->setAttr("ad.buffers", builder.getDenseI64ArrayAttr(places));
  function->setAttr("ad.arena_bytes", builder.getI64IntegerAttr(arenaBytes));
  function.walk([&](Operation *op) {
    if (!isa<LaunchOp, FeedOp, arith::SelectOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      return;
    SmallVector<int64_t> ids;
    for (Value result : op->getResults())
      ids.push_back(bufferOf.lookup_or(result, -1));
    op->setAttr("ad.buffer", builder.getDenseI64ArrayAttr(ids));
    if (auto it = before.find(op); it != before.end())
      op->setAttr("ad.buffer_before", builder.getDenseI64ArrayAttr(it->second));
    if (auto it = swaps.find(op); it != swaps.end())
      op->setAttr("ad.swap", builder.getDenseI64ArrayAttr(it->second));
  });
}
