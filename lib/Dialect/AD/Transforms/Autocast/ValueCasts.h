// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The casts of values: one for each value and type, right after the definition.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_VALUECASTS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_VALUECASTS_H

#include "Policies.h"

namespace mlir::ad {

/// The element type of a ranked tensor of f32, bf16 or f16, which policies are about; null for anything else.
Type getPolicyElement(Type type);
/// Whether the type is a ranked tensor of other floats, which policies leave alone.
bool isOtherFloatTensor(Type type);

class ValueCasts {
public:
  explicit ValueCasts(const ResolvedPolicy &policy) : policy(policy) {}

  /// The value with elements of the type: the value itself if it has them. `user` requires it; `source` says
  /// why.
  Value get(Value value, Type element, Operation *user, StringRef source);

private:
  void report(Operation *user, Type from, Type to, StringRef source) const;

  const ResolvedPolicy &policy;
  llvm::DenseMap<std::pair<Value, Type>, Value> casts;
  /// The last cast after the operation or at the start of the block.
  llvm::DenseMap<void *, Operation *> last;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_VALUECASTS_H
