// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Activity analysis.

#include "Activity.h"
#include "adjoint/Interfaces/DerivativeTypeInterface.h"
#include "adjoint/Interfaces/DifferentiableOpInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// A growing set of values with a mark for "something was new".
struct Marks {
  llvm::DenseSet<Value> values;
  bool changed = false;

  bool has(Value value) const { return values.contains(value); }
  bool hasAny(ValueRange range) const {
    return llvm::any_of(range, [&](Value value) { return has(value); });
  }
  void mark(Value value) {
    if (carriesDerivative(value.getType()) && values.insert(value).second)
      changed = true;
  }
  void mark(ValueRange range) {
    for (Value value : range)
      mark(value);
  }
};
} // namespace

// Operands through which results depend on something, and values used in regions of operations that nothing
// is known of.
static SmallVector<Value> influences(Operation *op) {
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  SmallVector<Value> values;
  for (OpOperand &operand : op->getOpOperands())
    if (!rule || rule.isDifferentiable(operand.getOperandNumber()))
      values.push_back(operand.get());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  values.append(captured.begin(), captured.end());
  return values;
}

//===- Forward: what depends on the arguments -===//

static void markDependent(Block &block, Marks &marks);

static void markDependent(scf::ForOp loop, Marks &marks) {
  ValueRange yielded = loop.getYieldedValues();
  auto carry = [&] {
    for (auto [init, argument, next, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), yielded, loop.getResults()))
      if (marks.has(init) || marks.has(next)) {
        marks.mark(argument);
        marks.mark(result);
      }
  };
  carry();
  markDependent(*loop.getBody(), marks);
  carry();
}

static void markDependent(scf::IfOp branch, Marks &marks) {
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    markDependent(region.front(), marks);
    for (auto [yielded, result] :
         llvm::zip(region.front().getTerminator()->getOperands(), branch.getResults()))
      if (marks.has(yielded))
        marks.mark(result);
  }
}

static void markDependent(Block &block, Marks &marks) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      markDependent(loop, marks);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      markDependent(branch, marks);
    else if (marks.hasAny(influences(&op)))
      marks.mark(op.getResults());
  }
}

//===- Backward: what the results depend on -===//

static void markNeeded(Block &block, Marks &marks);

static void markNeeded(scf::ForOp loop, Marks &marks) {
  ValueRange yielded = loop.getYieldedValues();
  auto carry = [&] {
    for (auto [init, argument, next, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), yielded, loop.getResults()))
      if (marks.has(result) || marks.has(argument)) {
        marks.mark(next);
        marks.mark(init);
      }
  };
  carry();
  markNeeded(*loop.getBody(), marks);
  carry();
}

static void markNeeded(scf::IfOp branch, Marks &marks) {
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    for (auto [yielded, result] :
         llvm::zip(region.front().getTerminator()->getOperands(), branch.getResults()))
      if (marks.has(result))
        marks.mark(yielded);
    markNeeded(region.front(), marks);
  }
}

static void markNeeded(Block &block, Marks &marks) {
  for (Operation &op : llvm::reverse(block)) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      markNeeded(loop, marks);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      markNeeded(branch, marks);
    else if (marks.hasAny(op.getResults()))
      marks.mark(influences(&op));
  }
}

//===- Activity -===//

Activity::Activity(Block &body, ArrayRef<Value> from, ArrayRef<Value> to) {
  Marks forwards, backwards;
  forwards.mark(from);
  backwards.mark(to);
  auto untilStable = [&](Marks &marks, void (*sweep)(Block &, Marks &)) {
    do {
      marks.changed = false;
      sweep(body, marks);
    } while (marks.changed);
  };
  untilStable(forwards, markDependent);
  untilStable(backwards, markNeeded);
  dependent = std::move(forwards.values);
  needed = std::move(backwards.values);
  for (Value value : dependent)
    if (needed.contains(value))
      active.insert(value);
}

bool Activity::isDependent(Operation *op) const {
  return llvm::any_of(influences(op), [&](Value value) { return dependent.contains(value); });
}

SmallVector<Value> Activity::activeCaptures(Operation *op) const {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return llvm::filter_to_vector(captured, [&](Value value) { return isActive(value); });
}

void Activity::extendTo(const IRMapping &copies) {
  for (auto [original, copy] : copies.getValueMap())
    if (isActive(original))
      active.insert(copy);
}

void Activity::replace(Value value, Value by) {
  if (active.erase(value))
    active.insert(by);
}
