// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The part of the pattern base that does not depend on the operation.

#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "llvm/ADT/StringSet.h"

#include <cstdlib>
#include <mutex>

using namespace mlir;
using namespace mlir::ad;

namespace {
// Gives operations that a rewrite creates the permissions of those that it replaces, and sums without an
// order their canonical one if the replaced operations had theirs written.
struct InheritContract : RewriterBase::ForwardingListener {
  InheritContract(OpBuilder::Listener *next, Permissions permissions, bool writesOrders)
      : ForwardingListener(next), permissions(permissions), writesOrders(writesOrders) {}

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
    ForwardingListener::notifyOperationInserted(op, previous);
    auto numerics = dyn_cast<NumericsOpInterface>(op);
    if (!numerics)
      return;
    if (!numerics.hasPermissions())
      numerics.setPermissions(permissions);
    if (writesOrders && !numerics.getSummationOrder())
      if (OrderAttr order = numerics.getCanonicalOrder())
        numerics.setSummationOrder(order);
  }

  Permissions permissions;
  bool writesOrders;
};
} // namespace

StringRef ad::detail::permissionsLabel(Permissions needed) {
  static std::mutex mutex;
  static llvm::StringSet<> labels;
  std::lock_guard<std::mutex> lock(mutex);
  return labels.insert("needs=" + stringifyPermissions(needed)).first->getKey();
}

LogicalResult ad::detail::rewriteWithPermissions(PatternRewriter &rewriter, ArrayRef<Operation *> touched,
                                                 StringRef pattern, Permissions needed,
                                                 function_ref<void()> rewrite) {
#ifdef ADJOINT_REMOVABLE_LABELS
  // Only in ad-opt-unlabelled, which tests whether the tests of labels can fail.
  if (const char *unlabelled = std::getenv("ADJOINT_UNLABELLED"); unlabelled && pattern == unlabelled)
    needed = Permissions::none;
#endif
  std::optional<Permissions> common;
  bool explicitlySet = true, hasOrders = true;
  for (Operation *op : touched) {
    auto numerics = dyn_cast<NumericsOpInterface>(op);
    if (!numerics)
      continue;
    Permissions own = numerics.getPermissions();
    if (!allows(own, needed))
      return rewriter.notifyMatchFailure(op, [&](Diagnostic &diagnostic) {
        diagnostic << pattern << ": expected the permission "
                   << stringifyPermissions(lackingPermissions(own, needed)) << ", but " << op->getName()
                   << " allows " << stringifyPermissions(own);
      });
    common = common ? *common & own : own;
    explicitlySet &= numerics.hasPermissions();
    hasOrders &= numerics.getSummationOrder() || !numerics.getCanonicalOrder();
  }
  if (needed != Permissions::none && !common)
    return rewriter.notifyMatchFailure(touched.front(), "expected an operation that carries permissions");
  if (failed(requireAllowed(rewriter, pattern, needed, touched.front())))
    return failure();
  Location loc = touched.front()->getLoc();
  rewriter.setInsertionPoint(touched.front());
  if (common && explicitlySet) {
    OpBuilder::Listener *previous = rewriter.getListener();
    InheritContract listener(previous, *common, hasOrders);
    rewriter.setListener(&listener);
    rewrite();
    rewriter.setListener(previous);
  } else {
    rewrite();
  }
  recordNumericsUse(loc, pattern, needed);
  return success();
}
