// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls of services of the runtime. Each returns a status, which a guard checks.

#include "RuntimeServices.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

void RuntimeServices::emitFeed(FeedOp feed) {
  SmallVector<Value> dynamic = values.scalars(feed.getSizes());
  auto type = cast<RankedTensorType>(feed.getResult().getType());
  HostTensor tensor =
      buffers.tensorIn(buffers.plan.bufferOf(feed->getResult(0)), type, values.sizesOf(type, dynamic));
  guard(call("adrt_feed", builder.getI32Type(),
             {context, module.site(builder, loc, "ad.feed"), module.string(builder, loc, feed.getName()),
              descriptors.describe(tensor)}));
  values.bind(feed.getResult(), tensor);
}

void RuntimeServices::emitReceive(ReceiveOp receive) {
  SmallVector<HostTensor> tensors;
  for (Value input : receive.getInputs())
    tensors.push_back(values.tensor(input));
  guard(
      call("adrt_receive", builder.getI32Type(),
           {context, module.site(builder, loc, "ad.receive"), module.string(builder, loc, receive.getName()),
            descriptors.describe(tensors), i32(tensors.size())}));
}

void RuntimeServices::emitCheck(Operation *op) {
  int32_t kind = ADRT_CHECK_EQUAL;
  double tolerance = 0;
  bool relative = false;
  if (auto almost = dyn_cast<check::ExpectAlmostEqOp>(op)) {
    kind = ADRT_CHECK_ALMOST_EQUAL;
    tolerance = almost.getTolerance().convertToDouble();
    relative = almost.getRelative();
  } else if (isa<check::ExpectFiniteOp>(op)) {
    kind = ADRT_CHECK_FINITE;
  }
  Value actual = descriptors.describe(values.tensor(op->getOperand(0)));
  Value expected = descriptors.describe(values.tensor(op->getOperands().back()));
  Value bound = arith::ConstantFloatOp::create(builder, loc, builder.getF64Type(), APFloat(tolerance));
  guard(call("adrt_check", builder.getI32Type(),
             {context, module.site(builder, loc, writtenName(op)), i32(kind), bound, i32(relative), actual,
              expected}));
}

void RuntimeServices::emitRequire(RequireOp require) {
  Value holds = values.scalar(require.getCondition());
  auto branch = scf::IfOp::create(builder, loc, builder.getI32Type(), holds, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, i32(ADRT_OK));
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  Value numbers = entry.stackSlot(builder.getI64Type(), require.getValues().size());
  for (auto [i, value] : llvm::enumerate(require.getValues())) {
    Value address = entry.elementAddress(builder.getI64Type(), numbers, i);
    LLVM::StoreOp::create(builder, loc, toI64(values.scalar(value)), address);
  }
  Value status = call("adrt_fail", builder.getI32Type(),
                      {context, module.site(builder, loc, require.getRequiredBy()), i32(require.getKind()),
                       numbers, i32(require.getValues().size())});
  scf::YieldOp::create(builder, loc, status);
  builder.setInsertionPointAfter(branch);
  guard(branch.getResult(0));
}

void RuntimeServices::requireSameCarry(int64_t carry, int64_t axis, Value before, Value after) {
  Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, before, after);
  OpBuilder::InsertionGuard insertion(builder);
  auto require =
      RequireOp::create(builder, loc, ADRT_FAIL_CARRY, same,
                        ValueRange{indexConstant(carry), indexConstant(axis), before, after}, "scf.for");
  emitRequire(require);
  require.erase();
}
