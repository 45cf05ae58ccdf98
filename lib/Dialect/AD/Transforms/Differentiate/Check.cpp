// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The check that every active operation has a derivative. It never stops at the first one: users see the
// whole list.

#include "Check.h"
#include "Loops.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
class Checker {
public:
  Checker(const Activity &activity, Operation *request) : activity(activity), request(request) {}

  void check(Block &block);
  LogicalResult result() const { return failure(anyError); }

private:
  void checkLoop(scf::ForOp loop);
  void checkEffects(Operation *op);
  InFlightDiagnostic report(Operation *op);

  const Activity &activity;
  Operation *request;
  bool anyError = false;
};
} // namespace

InFlightDiagnostic Checker::report(Operation *op) {
  anyError = true;
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic.attachNote(request->getLoc()) << "needed for this derivative";
  return diagnostic;
}

void Checker::check(Block &block) {
  for (Operation &op : block) {
    if (!activity.hasActiveResult(&op))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      checkLoop(loop);
      check(*loop.getBody());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      checkEffects(branch);
      for (Region &region : branch->getRegions())
        check(region.front());
    } else if (isa<scf::WhileOp>(op)) {
      report(&op) << "has no reverse: the reverse of scf.while needs a bound on the number of iterations; "
                     "use scf.for with "
                     "a static trip count";
    } else if (!isa<DifferentiableOpInterface>(op)) {
      InFlightDiagnostic diagnostic = report(&op) << "has no derivative rule";
      if (isa<FusionOp, KernelOp, LaunchOp>(op))
        diagnostic << "; run --ad-differentiate before operations become kernels, that is before --ad-fuse";
    }
  }
}

void Checker::checkLoop(scf::ForOp loop) {
  if (!staticBounds(loop))
    report(loop)
        << "has no reverse: expected a static trip count (constant bounds and a constant positive step)";
  for (Value argument : loop.getRegionIterArgs())
    if (!canBeSaved(argument.getType()))
      report(loop) << "has no reverse: expected carried values to be numbers or tensors of numbers, but got "
                   << argument.getType();
  checkEffects(loop);
}

// Effects with results are saved. That is possible where each iteration has each effect once; sizes may not
// change.
void Checker::checkEffects(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  op->walk([&](Operation *nested) {
    if (nested == op || nested->getNumRegions() != 0 || nested->getNumResults() == 0 ||
        isMemoryEffectFree(nested))
      return;
    if (!isa<FeedOp>(nested))
      report(nested)
          << "has no reverse: expected a pure operation or 'ad.feed' in differentiated control flow";
    else if (!loop || nested->getParentOp() != op)
      report(nested) << "has no reverse: expected it directly in the body of a differentiated scf.for";
    else if (!llvm::all_of(nested->getOperands(),
                           [&](Value size) { return loop.isDefinedOutsideOfLoop(size); }))
      report(nested) << "has no reverse: expected sizes that are the same in all iterations";
  });
}

LogicalResult ad::checkDifferentiable(Block &body, const Activity &activity, Operation *request) {
  Checker checker(activity, request);
  checker.check(body);
  return checker.result();
}
