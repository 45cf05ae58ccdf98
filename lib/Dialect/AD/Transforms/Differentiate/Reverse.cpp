// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The reverse of straight-line code by the rules of its operations.

#include "Reverse.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

void Cotangents::addInOrder(ValueRange of, ValueRange added) {
  for (size_t index = of.size(); index-- > 0;)
    if (added[index])
      add(of[index], added[index]);
}

Value Cotangents::take(OpBuilder &builder, Location loc, Value of) {
  auto entry = contributions.find(of);
  if (entry == contributions.end())
    return nullptr;
  SmallVector<Value, 2> inUseOrder(llvm::reverse(entry->second));
  contributions.erase(entry);
  Value sum = inUseOrder.front();
  for (Value next : llvm::drop_begin(inUseOrder))
    sum = AddOp::create(builder, loc, sum, next, PermissionsAttr());
  return sum;
}

LogicalResult Reverser::reverse(ArrayRef<Operation *> ops, Cotangents &cotangents, OpBuilder &builder) {
  for (Operation *op : llvm::reverse(ops)) {
    if (!activity.hasActiveResult(op))
      continue;
    LogicalResult done = success();
    if (auto branch = dyn_cast<scf::IfOp>(op))
      done = reverseIf(branch, cotangents, builder);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      done = reverseFor(loop, cotangents, builder);
    else
      done = reverseByRule(op, cotangents, builder);
    if (failed(done))
      return failure();
  }
  return success();
}

LogicalResult Reverser::reverseByRule(Operation *op, Cotangents &cotangents, OpBuilder &builder) {
  auto rule = cast<DifferentiableOpInterface>(op);
  SmallVector<Value> ofResults;
  for (Value result : op->getResults())
    ofResults.push_back(cotangents.take(builder, op->getLoc(), result));
  if (llvm::none_of(ofResults, [](Value value) { return static_cast<bool>(value); }))
    return success();

  SmallVector<bool> wanted;
  for (OpOperand &operand : op->getOpOperands())
    wanted.push_back(activity.isActive(operand.get()) && rule.isDifferentiable(operand.getOperandNumber()));
  SmallVector<Value> ofOperands;
  if (failed(rule.vjp(builder, ofResults, wanted, ofOperands)))
    return failure();
  if (ofOperands.size() != op->getNumOperands())
    return op->emitOpError("expected its derivative rule to give ")
           << op->getNumOperands() << " cotangents, but got " << ofOperands.size();

  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    Value &cotangent = ofOperands[index];
    if (!wanted[index])
      cotangent = nullptr;
    if (cotangent && cotangent.getType() != operand.getType())
      return op->emitOpError("expected its derivative rule to give a cotangent of type ")
             << operand.getType() << " for operand " << index << ", but got " << cotangent.getType();
  }
  cotangents.addInOrder(op->getOperands(), ofOperands);
  return success();
}

//===- Recomputation -===//

static bool onlyHasEffects(Operation *op) {
  return op->getNumResults() == 0 && op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() &&
         !isMemoryEffectFree(op);
}

SmallVector<Operation *> Reverser::recompute(Block &block, IRMapping &copies, OpBuilder &builder) {
  SmallVector<Operation *> copied;
  for (Operation &op : block.without_terminator()) {
    bool isGiven = op.getNumResults() != 0 && copies.contains(op.getResult(0));
    if (isGiven || onlyHasEffects(&op))
      continue;
    Operation *copy = builder.clone(op, copies);
    SmallVector<Operation *> effects;
    copy->walk([&](Operation *nested) {
      if (onlyHasEffects(nested))
        effects.push_back(nested);
    });
    for (Operation *effect : effects)
      effect->erase();
    copied.push_back(copy);
  }
  activity.extendTo(copies);
  return copied;
}

static void forgetValues(Operation *op, Activity &activity) {
  op->walk([&](Operation *nested) {
    for (Value result : nested->getResults())
      activity.forget(result);
    for (Region &region : nested->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          activity.forget(argument);
  });
}

void ad::eraseDead(Block &block, Activity *activity) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        eraseDead(nested, activity);
    if (!isOpTriviallyDead(&op))
      continue;
    if (activity)
      forgetValues(&op, *activity);
    op.erase();
  }
}
