// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Polls of the host's wish to stop.

#include "StopPolls.h"
#include "../Launches/WorkEstimate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad::host;

void StopPolls::poll() {
  guard(call("adrt_poll", builder.getI32Type(), context));
  workSincePoll = 0;
}

void StopPolls::pollBefore(int64_t work) {
  if (work >= kWorkBetweenPolls - workSincePoll)
    poll();
  workSincePoll += work;
}

void StopPolls::pollEvery(Value iteration, int64_t n) {
  Value rest = arith::AndIOp::create(builder, loc, iteration, i64(n - 1));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, i64(0));
  auto branch = scf::IfOp::create(builder, loc, builder.getI32Type(), isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, call("adrt_poll", builder.getI32Type(), context));
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(builder, loc, i32(0));
  builder.setInsertionPointAfter(branch);
  guard(branch.getResult(0));
}

// A launch on a device polls, whatever work it is.
int64_t StopPolls::iterationsBetweenPolls(int64_t work) const {
  return options.device ? 1 : kWorkBetweenPolls / work;
}
