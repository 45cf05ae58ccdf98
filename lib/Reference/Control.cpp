// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls, branches and loops.

#include "Interpreter.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

static int32_t setAll(Frame &frame, ValueRange results, ArrayRef<Tensor> tensors) {
  for (auto [result, tensor] : llvm::zip_equal(results, tensors))
    frame.set(result, tensor);
  return ADRT_OK;
}

static int32_t runCall(func::CallOp op, Frame &frame) {
  SmallVector<Tensor> results;
  if (int32_t status = frame.run.call(op, op.getCallee(), frame.all(op.getArgOperands()), results))
    return status;
  return setAll(frame, op.getResults(), results);
}

static bool isTrue(const Tensor &condition) { return *condition.data<uint8_t>() != 0; }

static int32_t runIf(scf::IfOp op, Frame &frame) {
  Region &region = isTrue(frame[op.getCondition()]) ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return ADRT_OK;
  SmallVector<Tensor> yielded;
  if (int32_t status = frame.runBlock(region.front(), {}, yielded))
    return status;
  return setAll(frame, op.getResults(), yielded);
}

/// Carried tensors keep their sizes, so that all memory of a loop is known before it starts.
static int32_t checkCarries(Operation *op, Frame &frame, ArrayRef<Tensor> before, ArrayRef<Tensor> after) {
  for (auto [carry, pair] : llvm::enumerate(llvm::zip_equal(before, after))) {
    auto &[old, now] = pair;
    for (int64_t axis = 0, rank = std::min(old.getRank(), now.getRank()); axis < rank; ++axis)
      if (old.getDim(axis) != now.getDim(axis))
        return frame.fail(op, ADRT_FAIL_CARRY,
                          {static_cast<int64_t>(carry), axis, old.getDim(axis), now.getDim(axis)});
  }
  return ADRT_OK;
}

namespace {

/// Tells the observer where a loop is.
class LoopNotes {
public:
  LoopNotes(Operation *loop, Frame &frame) : loop(loop), observer(frame.run.observer) {}
  ~LoopNotes() {
    if (observer && next > 0)
      observer->loopEnded(loop);
  }
  void startIteration() {
    if (observer)
      observer->iterationStarts(loop, next++);
  }

private:
  Operation *loop;
  Observer *observer;
  int64_t next = 0;
};

} // namespace

static int32_t runFor(scf::ForOp op, Frame &frame) {
  auto number = [&](Value value) { return integerOf(frame[value], value.getType()); };
  LoopRange range{number(op.getLowerBound()), number(op.getUpperBound()), number(op.getStep()),
                  op.getUnsignedCmp()};
  if (!range.hasPositiveStep())
    return frame.refuse(op, "requires a positive step, but got " + Twine(range.step.getSExtValue()));
  SmallVector<Tensor> carried = frame.all(op.getInitArgs());
  Type type = op.getInductionVar().getType();
  APInt i = range.lower;
  LoopNotes notes(op, frame);
  for (uint64_t left = range.tripCount(); left > 0; --left, i += range.step) {
    if (int32_t status = adrt_poll(frame.run.context))
      return status;
    notes.startIteration();
    SmallVector<Tensor> arguments{*scalarOf(i, type)}, next;
    arguments.append(carried);
    if (int32_t status = frame.runBlock(*op.getBody(), arguments, next))
      return status;
    if (int32_t status = checkCarries(op, frame, carried, next))
      return status;
    carried = next;
  }
  return setAll(frame, op.getResults(), carried);
}

static int32_t runWhile(scf::WhileOp op, Frame &frame) {
  SmallVector<Tensor> carried = frame.all(op.getInits());
  LoopNotes notes(op, frame);
  while (true) {
    if (int32_t status = adrt_poll(frame.run.context))
      return status;
    notes.startIteration();
    SmallVector<Tensor> condition, next;
    if (int32_t status = frame.runBlock(*op.getBeforeBody(), carried, condition))
      return status;
    ArrayRef<Tensor> passed = ArrayRef(condition).drop_front();
    if (!isTrue(condition.front()))
      return setAll(frame, op.getResults(), passed);
    if (int32_t status = frame.runBlock(*op.getAfterBody(), passed, next))
      return status;
    if (int32_t status = checkCarries(op, frame, carried, next))
      return status;
    carried = next;
  }
}

void mlir::ad::reference::registerControl(Semantics &semantics) {
  semantics.add(runCall);
  semantics.add(runIf);
  semantics.add(runFor);
  semantics.add(runWhile);
}
