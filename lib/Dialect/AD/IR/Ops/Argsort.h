// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The two decompositions of ad.argsort along the last axis. Both give the same positions.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_OPS_ARGSORT_H
#define ADJOINT_LIB_DIALECT_AD_IR_OPS_ARGSORT_H

#include "StepBuilder.h"

namespace mlir::ad {

/// By counting, for each element, those that come before it: one pass, with work in proportion to the square
/// of the length. The result has i64 elements and the shape of the input.
Value positionsByRanks(OpBuilder &builder, Location loc, Value input, bool descending);

/// By a sorting network: between log2(length)^2 / 4 and / 5 passes over all elements. The axis has fewer than
/// 2^32 elements.
Value positionsByNetwork(OpBuilder &builder, Location loc, Value input, bool descending);

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_OPS_ARGSORT_H
