// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KernelClassQuery.h"
#include "../TrialFusion.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::fuse;

KernelClassQuery::KernelClassQuery(MLIRContext *context, std::optional<TargetKind> target) {
  const KernelClassRegistry *all = KernelClassRegistry::get(context);
  if (!all || !target || all->highestBenefit(*target) <= kHighestOwnBenefit)
    return;
  classes = all;
  this->target = *target;
}

const KernelClass *KernelClassQuery::classOf(ArrayRef<Operation *> members) const {
  OwningOpRef<FusionOp> trial = makeTrialFusion(members);
  return classes->classOf(*trial, target);
}

bool KernelClassQuery::mayJoin(ArrayRef<Operation *> one, ArrayRef<Operation *> other) const {
  if (!classes)
    return true;
  unsigned best = 0;
  for (ArrayRef<Operation *> members : {one, other})
    if (const KernelClass *found = classOf(members))
      best = std::max(best, found->getBenefit());
  if (best <= kHighestOwnBenefit)
    return true;
  SmallVector<Operation *> both(one);
  llvm::append_range(both, other);
  const KernelClass *joint = classOf(both);
  return joint && joint->getBenefit() >= best;
}
