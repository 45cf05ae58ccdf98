// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the registered kernel classes say about a cluster, before it is one.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_KERNELCLASSQUERY_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_KERNELCLASSQUERY_H

#include "adjoint/Dialect/AD/Transforms/KernelClass.h"

namespace mlir::ad::fuse {

class KernelClassQuery {
public:
  /// Asks nobody without a target.
  KernelClassQuery(MLIRContext *context, std::optional<TargetKind> target);

  /// Why the operations of two clusters may not share a kernel; empty if they may. They may if the class that
  /// is taken for both together runs them well, and if no cluster loses a class of another compiler: one that
  /// has a higher benefit than Adjoint's and covers a cluster alone must cover both together, unless a class
  /// of a still higher benefit does.
  StringRef whyNotJoined(ArrayRef<Operation *> one, ArrayRef<Operation *> other) const;

  /// Whether the kernel of a contraction reads a slice of an argument in place.
  bool contractsSlices() const { return classes && target == TargetKind::cpu; }

private:
  const KernelClass *classOf(ArrayRef<Operation *> members) const;

  const KernelClassRegistry *classes = nullptr; ///< null: nobody is asked
  TargetKind target = TargetKind::cpu;
  bool hasForeign = false; ///< some class has a higher benefit than Adjoint's own
};

} // namespace mlir::ad::fuse

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_FUSE_KERNELCLASSQUERY_H
