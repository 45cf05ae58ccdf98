// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KernelClassQuery.h"
#include "../TrialFusion.h"
#include "adjoint/Interfaces/FusableOpInterface.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

KernelClassQuery::KernelClassQuery(MLIRContext *context, std::optional<TargetKind> target) {
  const KernelClassRegistry *all = KernelClassRegistry::get(context);
  if (!all || !target)
    return;
  classes = all;
  this->target = *target;
  hasForeign = all->highestBenefit(*target) > kHighestOwnBenefit;
}

static bool reducesLongRow(Operation *op) {
  return reducesLastAxis(op) &&
         cast<RankedTensorType>(op->getOperand(0).getType()).getShape().back() >= kLongRow;
}

const KernelClass *KernelClassQuery::classOf(ArrayRef<Operation *> members) const {
  OwningOpRef<FusionOp> trial = makeTrialFusion(members);
  return classes->classOf(*trial, target);
}

StringRef KernelClassQuery::whyNotJoined(ArrayRef<Operation *> one, ArrayRef<Operation *> other) const {
  SmallVector<Operation *> both(one);
  llvm::append_range(both, other);
  // Adjoint's classes run all clusters well that have neither contractions nor long rows, so that nobody
  // needs to be asked.
  if (!classes ||
      (!hasForeign && llvm::none_of(both, isContractionOp) && llvm::none_of(both, reducesLongRow)))
    return {};
  OwningOpRef<FusionOp> trial = makeTrialFusion(both);
  const KernelClass *joint = classes->classOf(*trial, target);
  if (joint && !joint->runsWell(*trial))
    return "a kernel of both would be slower than one for each";
  unsigned best = 0;
  for (ArrayRef<Operation *> members : {one, other})
    if (const KernelClass *found = hasForeign ? classOf(members) : nullptr)
      best = std::max(best, found->getBenefit());
  if (best <= kHighestOwnBenefit || (joint && joint->getBenefit() >= best))
    return {};
  return "a kernel class that covers one of them alone does not cover both";
}
