// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which values of a function need a cotangent: those that depend on a differentiated argument and on which a
// differentiated result depends, of every type that carries a derivative.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_ACTIVITY_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_ACTIVITY_H

#include "mlir/IR/Block.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::ad {
class Activity {
public:
  /// Both directions are fixpoints over loop carries. Operations without a rule pass everything on, so that
  /// one between argument and result is found and reported, never skipped.
  Activity(Block &body, ArrayRef<Value> from, ArrayRef<Value> to);

  bool isActive(Value value) const { return active.contains(value); }
  bool hasActiveResult(Operation *op) const {
    return llvm::any_of(op->getResults(), [&](Value result) { return isActive(result); });
  }

  /// Whether results of the operation, or what its regions compute, depend on a differentiated argument, and
  /// whether a differentiated result depends on one of its results. Known for the operations of the function
  /// as it was.
  bool isDependent(Operation *op) const;
  bool isNeeded(Operation *op) const {
    return llvm::any_of(op->getResults(), [&](Value result) { return needed.contains(result); });
  }

  /// Active values defined above the regions of `op` and used in them, in the order of their uses.
  SmallVector<Value> activeCaptures(Operation *op) const;

  /// The copies of active values are active.
  void extendTo(const IRMapping &copies);
  /// `value` is about to be replaced by `by`.
  void replace(Value value, Value by);
  /// `value` is about to disappear; a later value may get its address.
  void forget(Value value) { active.erase(value); }

private:
  llvm::DenseSet<Value> active, dependent, needed;
};
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_ACTIVITY_H
