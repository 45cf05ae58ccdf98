// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How another compiler forbids fusions that ad-fuse would make.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_FUSIONPOLICY_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_FUSIONPOLICY_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::ad {

/// Asked by ad-fuse in each context that has one. It forbids; it cannot join what has no kernel.
class FusionPolicy : public DialectInterface::Base<FusionPolicy> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusionPolicy)

  explicit FusionPolicy(Dialect *dialect) : Base(dialect) {}

  /// Null if the context has none.
  static const FusionPolicy *get(MLIRContext *context);

  /// Why the operations of two fusions should not share a kernel, as the text of a remark that lives as long
  /// as the policy; empty if they may. The operations are those of the block that is fused. Called from
  /// several threads at once.
  virtual StringRef whyNotJoined(ArrayRef<Operation *> one, ArrayRef<Operation *> other) const = 0;
};

/// Gives each context that loads `ad` through the registry the policy. A second one of a registry has no
/// effect.
template <typename Policy> void registerFusionPolicy(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, ADDialect *dialect) { dialect->addInterfaces<Policy>(); });
}

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_FUSIONPOLICY_H
