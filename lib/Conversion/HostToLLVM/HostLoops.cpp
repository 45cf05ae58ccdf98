// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What turns of a loop cost the host where a device runs the kernels. The runtime replays whatever repeats;
// nothing here decides about that, but whoever writes a program learns which loops wait for the host, in each
// turn or in some, and why.

#include "HostEmitter.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ad;

// Why the host has to have what the device computed before the program goes on; empty when it does not.
static StringRef reasonToWait(Operation *op) {
  if (isa<tensor::ExtractOp>(op))
    return "the host reads an element";
  if (op->getName().getDialectNamespace() == "check")
    return "the host compares values";
  return "";
}

// Branches inside of the loop may be passed by; the loop's own regions are not.
static bool isInBranch(Operation *op, Operation *loop) {
  for (Operation *around = op->getParentOp(); around != loop; around = around->getParentOp())
    if (isa<scf::IfOp, scf::IndexSwitchOp>(around))
      return true;
  return false;
}

namespace {
/// The first operation of a loop that waits, one outside of branches before all others.
struct FirstWait {
  Operation *op = nullptr;
  bool isInEachTurn = false;

  void consider(Operation *other, Operation *loop) {
    if (isInEachTurn || reasonToWait(other).empty())
      return;
    isInEachTurn = !isInBranch(other, loop);
    if (!op || isInEachTurn)
      op = other;
  }
};
} // namespace

void HostEmitter::reportTurns(Operation *loop) {
  int64_t launches = 0;
  FirstWait wait;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    launches += isa<LaunchOp>(op);
    wait.consider(op, loop);
  });
  if (!options.device || launches == 0)
    return;
  if (!wait.op) {
    remark::passed(loop->getLoc(), remark::RemarkOpts::name("turns-without-waits").category("ad-host"))
        << remark::metric("launches", launches);
    return;
  }
  remark::missed(loop->getLoc(), remark::RemarkOpts::name("turns-wait").category("ad-host"))
      << remark::metric("reason", reasonToWait(wait.op))
      << remark::metric("operation", wait.op->getName().getStringRef())
      << remark::metric("at", locationText(wait.op->getLoc()))
      << remark::metric("turns", wait.isInEachTurn ? "each" : "some");
}
