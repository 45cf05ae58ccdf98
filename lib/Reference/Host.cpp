// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Barriers, feeds, receives, checks, and operations of other dialects.

#include "Interpreter.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

static int32_t runBarrier(BarrierOp op, Frame &frame) {
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults()))
    frame.set(result, frame[input]);
  return ADRT_OK;
}

static int32_t runStopGradient(StopGradientOp op, Frame &frame) {
  return frame.set(op.getResult(), frame[op.getInput()]);
}

static int32_t runFeed(FeedOp op, Frame &frame) {
  SmallVector<int64_t> shape;
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (int32_t status = frame.shape(op, type, op.getSizes(), shape))
    return status;
  Tensor destination(*elementTypeOf(type), shape);
  adrt_tensor view = destination.view();
  if (int32_t status = adrt_feed(frame.run.context, Site(op).get(), op.getName().str().c_str(), &view))
    return status;
  return frame.set(op.getResult(), destination);
}

static int32_t runReceive(ReceiveOp op, Frame &frame) {
  SmallVector<Tensor> values = frame.all(op.getInputs());
  SmallVector<adrt_tensor> views;
  for (const Tensor &value : values)
    views.push_back(value.view());
  return adrt_receive(frame.run.context, Site(op).get(), op.getName().str().c_str(), views.data(),
                      static_cast<int32_t>(views.size()));
}

static int32_t refuseDerivative(Operation *op, Frame &frame) {
  return frame.refuse(op,
                      "has no semantics of its own in the reference interpreter: run ad-differentiate first");
}
static int32_t runValueAndGrad(ValueAndGradOp op, Frame &frame) { return refuseDerivative(op, frame); }
static int32_t runVjp(VjpOp op, Frame &frame) { return refuseDerivative(op, frame); }

// A fusion has the semantics of its operations.
static int32_t runFusion(FusionOp op, Frame &frame) {
  SmallVector<Tensor> yielded;
  if (int32_t status = frame.runBlock(op.getBody().front(), frame.all(op.getInputs()), yielded))
    return status;
  for (auto [result, value] : llvm::zip_equal(op.getResults(), yielded))
    frame.set(result, value);
  return ADRT_OK;
}

static int32_t runRequire(RequireOp op, Frame &frame) {
  if (*frame[op.getCondition()].data<bool>())
    return ADRT_OK;
  SmallVector<int64_t> values = frame.indices(op.getValues());
  return adrt_fail(frame.run.context, Site(op.getLoc(), op.getRequiredBy()).get(),
                   static_cast<int32_t>(op.getKind()), values.data(), static_cast<int32_t>(values.size()));
}

static int32_t runCheck(Operation *op, Frame &frame, adrt_check_kind kind, double tolerance, bool relative,
                        Value actual, Value expected) {
  adrt_tensor left = frame[actual].view(), right = frame[expected].view();
  return adrt_check(frame.run.context, Site(op).get(), kind, tolerance, relative, &left, &right);
}

static int32_t runExpectEq(check::ExpectEqOp op, Frame &frame) {
  return runCheck(op, frame, ADRT_CHECK_EQUAL, 0.0, false, op.getActual(), op.getExpected());
}

static int32_t runExpectAlmostEq(check::ExpectAlmostEqOp op, Frame &frame) {
  return runCheck(op, frame, ADRT_CHECK_ALMOST_EQUAL, op.getTolerance().convertToDouble(), op.getRelative(),
                  op.getActual(), op.getExpected());
}

static int32_t runExpectFinite(check::ExpectFiniteOp op, Frame &frame) {
  return runCheck(op, frame, ADRT_CHECK_FINITE, 0.0, false, op.getActual(), op.getActual());
}

void mlir::ad::reference::registerHost(Semantics &semantics) {
  semantics.add(runBarrier);
  semantics.add(runStopGradient);
  semantics.add(runFeed);
  semantics.add(runReceive);
  semantics.add(runValueAndGrad);
  semantics.add(runVjp);
  semantics.add(runFusion);
  semantics.add(runRequire);
  semantics.add(runExpectEq);
  semantics.add(runExpectAlmostEq);
  semantics.add(runExpectFinite);
}
