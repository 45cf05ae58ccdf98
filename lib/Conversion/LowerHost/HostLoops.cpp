// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What turns of a loop cost the host where a device runs the kernels. The runtime replays whatever repeats;
// nothing here decides about that, but whoever writes a program learns which loops wait for the host in each
// turn, and why.

#include "HostEmitter.h"
#include "adjoint/Support/LocationText.h"
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

void HostEmitter::reportTurns(Operation *loop) {
  int64_t launches = 0;
  Operation *waiting = nullptr;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    launches += isa<LaunchOp>(op);
    if (!waiting && !reasonToWait(op).empty())
      waiting = op;
  });
  if (!options.device || launches == 0)
    return;
  if (!waiting) {
    remark::passed(loop->getLoc(), remark::RemarkOpts::name("turns-without-waits").category("ad-host"))
        << remark::metric("launches", launches);
    return;
  }
  remark::missed(loop->getLoc(), remark::RemarkOpts::name("turns-wait").category("ad-host"))
      << remark::metric("reason", reasonToWait(waiting))
      << remark::metric("operation", waiting->getName().getStringRef())
      << remark::metric("at", locationText(waiting->getLoc()));
}
