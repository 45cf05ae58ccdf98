// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/Transforms/NamedKernelOps.h"
#include "../Numerics/WriteContract.h"
#include "../TrialFusion.h"
#include "adjoint/Interfaces/FusableOpInterface.h"

using namespace mlir;
using namespace mlir::ad;

static LogicalResult decompose(NamedKernelOpInterface op) {
  auto replaced = dyn_cast<NumericsOpInterface>(op.getOperation());
  bool isWritten = replaced && replaced.hasPermissions();
  PermissionWriter inherit(isWritten ? std::optional(replaced.getPermissions()) : std::nullopt);
  OpBuilder builder(op->getContext(), &inherit);
  builder.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> values = decomposeNamedKernel(op, builder);
  if (failed(values))
    return failure();
  op->replaceAllUsesWith(*values);
  op->erase();
  return success();
}

FailureOr<bool> ad::decomposeNamedKernels(Operation *root, function_ref<bool(NamedKernelOpInterface)> keeps) {
  int64_t count = 0;
  for (int64_t depth = 0;; ++depth) {
    SmallVector<NamedKernelOpInterface> found;
    root->walk([&](NamedKernelOpInterface op) {
      if (!keeps(op))
        found.push_back(op);
    });
    if (found.empty())
      return depth > 0;
    count += static_cast<int64_t>(found.size());
    if (depth == kMaxNamedKernelDepth || count > kMaxNamedKernels)
      return found.front()->emitOpError(kNamedKernelDepthError), failure();
    for (NamedKernelOpInterface op : found)
      if (failed(decompose(op)))
        return failure();
  }
}

bool ad::hasKernelClass(NamedKernelOpInterface op, TargetKind target) {
  const KernelClassRegistry *classes = KernelClassRegistry::get(op->getContext());
  if (!classes || !isa<FusableOpInterface>(op.getOperation()))
    return false;
  OwningOpRef<FusionOp> cluster = makeTrialFusion(op.getOperation());
  const KernelClass *found = classes->classOf(*cluster, target);
  return found && found->getName() != kGenericClass;
}

NamedKernelOpInterface ad::namedKernelIn(Operation *fusionOrKernel) {
  for (Operation &op : fusionOrKernel->getRegion(0).front())
    if (auto named = dyn_cast<NamedKernelOpInterface>(op))
      return named;
  return nullptr;
}
