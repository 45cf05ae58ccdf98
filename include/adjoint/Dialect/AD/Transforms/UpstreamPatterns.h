// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The only patterns and folders of MLIR that run on programs in `ad`: an allow-list, proved bit-exact by
// test/Permissions. Those of `math` go through the host's libm, those of `linalg` and `vector` reassociate.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_UPSTREAMPATTERNS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_UPSTREAMPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::ad {
/// Whether folders may run on the operation.
bool mayFold(Operation *op);

/// The canonicalizations of `ad`, and those of MLIR on the list.
void populateAllowedPatterns(RewritePatternSet &patterns);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_UPSTREAMPATTERNS_H
