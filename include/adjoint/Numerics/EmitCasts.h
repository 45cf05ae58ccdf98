// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits the conversions of Casts.h as `arith` operations.
#ifndef ADJOINT_NUMERICS_EMITCASTS_H
#define ADJOINT_NUMERICS_EMITCASTS_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::numerics {

/// Converts `value`, a scalar or fixed one-dimensional vector of one of the ten element types, to `element`.
/// 16- and 8-bit floats are decoded and encoded with arith.bitcast to i16 and i8 and integer arithmetic. No
/// emitted operation computes in these types, and none is undefined for any input. With `halfInstructions`
/// the target has instructions that convert between f16 and f32 (F16C), with the same results.
Value emitCast(OpBuilder &builder, Location loc, Value value, Type element, bool halfInstructions = false);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_EMITCASTS_H
