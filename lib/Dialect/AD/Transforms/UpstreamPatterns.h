// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The only patterns and folders of MLIR that run on programs in `ad`: an allow-list by name, proved bit-exact
// by test/Permissions and by campaigns of random programs (lib/Dialect/AD/Transforms/Upstream/Tables.h).
// Those of `math` go through the host's libm, those of `linalg` and `vector` reassociate.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_UPSTREAMPATTERNS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_UPSTREAMPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::ad {
/// Whether the folder of the operation and the allowed patterns may run on it.
bool mayFold(Operation *op);

/// The canonicalizations of `ad`, and those of MLIR on the list.
void populateAllowedPatterns(RewritePatternSet &patterns);

/// Prints the verdict on each pattern of MLIR, one a line: `admitted`, `refused` or `unknown`, the operation,
/// the name, the reason. Then rows of the list that no pattern has (`stale`), and admitted patterns of
/// operations that simplification does not visit (`unvisited`).
void listUpstreamPatterns(MLIRContext *context, raw_ostream &os);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_UPSTREAMPATTERNS_H
