// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The runtime replays iterations that repeat, whatever these remarks say. They tell the author of a program
// in which loops the host waits for the device, in each iteration or in some, and name the first operation
// that waits.

#include "LoopRemarks.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ad;

// Why the host waits for a value of the device; empty if it does not.
static StringRef reasonToWait(Operation *op) {
  if (isa<tensor::ExtractOp>(op))
    return "the host reads an element";
  if (op->getName().getDialectNamespace() == "check")
    return "the host compares values";
  return "";
}

// An iteration may skip branches inside of the loop, but not the loop's own regions.
static bool isInBranch(Operation *op, Operation *loop) {
  for (Operation *around = op->getParentOp(); around != loop; around = around->getParentOp())
    if (isa<scf::IfOp, scf::IndexSwitchOp>(around))
      return true;
  return false;
}

namespace {
/// The first operation of a loop that waits; one outside of branches precedes all others.
struct FirstWait {
  Operation *op = nullptr;
  bool isInEachIteration = false;

  void consider(Operation *other, Operation *loop) {
    if (isInEachIteration || reasonToWait(other).empty())
      return;
    isInEachIteration = !isInBranch(other, loop);
    if (!op || isInEachIteration)
      op = other;
  }
};
} // namespace

void host::reportWaits(Operation *loop) {
  int64_t launches = 0;
  FirstWait wait;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    launches += isa<LaunchOp>(op);
    wait.consider(op, loop);
  });
  if (launches == 0)
    return;
  if (!wait.op) {
    remark::passed(loop->getLoc(), remark::RemarkOpts::name("loop-without-waits").category("ad-host"))
        << remark::metric("launches", launches);
    return;
  }
  remark::missed(loop->getLoc(), remark::RemarkOpts::name("loop-waits").category("ad-host"))
      << remark::metric("reason", reasonToWait(wait.op))
      << remark::metric("operation", wait.op->getName().getStringRef())
      << remark::metric("at", locationText(wait.op->getLoc()))
      << remark::metric("iterations", wait.isInEachIteration ? "each" : "some");
}
