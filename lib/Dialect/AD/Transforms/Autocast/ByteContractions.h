// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions in 8 bits: ad.scaled_dot in the place of ad.dot and ad.gemm, with the scales of an argument of
// the function if it has one.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_BYTECONTRACTIONS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_BYTECONTRACTIONS_H

#include "Policies.h"

namespace mlir::ad {

/// Whether the operation can become ad.scaled_dot.
bool canComputeInBytes(OperationName name);

/// The argument of the function with scales for its contractions; null if there is none.
BlockArgument scalesOf(FunctionOpInterface function);

/// Replaces the calls in a function with scales by the bodies of the called functions if they have its
/// policy, since the scales are those of all contractions that it executes. Emits an error for a recursion.
LogicalResult inlineCallsUnderScales(FunctionOpInterface function, PolicyTable &policies);

/// A contraction that becomes ad.scaled_dot, and why.
struct ByteContraction {
  Operation *op;
  StringRef source;
};

/// Replaces the contractions of a function, which are in its order. Emits an error if there are not as many
/// as scales.
LogicalResult replaceByScaledDots(FunctionOpInterface function, ArrayRef<ByteContraction> contractions,
                                  const ResolvedPolicy &policy);

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_BYTECONTRACTIONS_H
