// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits the conversions of Casts.h as `arith` operations.
#ifndef ADJOINT_NUMERICS_EMITCASTS_H
#define ADJOINT_NUMERICS_EMITCASTS_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::numerics {

/// `value`, a scalar or fixed one-dimensional vector of one of the ten element types, converted to `element`.
/// 16- and 8-bit floats are taken apart and put together with arith.bitcast to i16 and i8 and integer
/// arithmetic; no operation of the result computes in them, and none is undefined for any input. With
/// `halfInstructions` the target converts between f16 and f32 itself (F16C), with the same results.
Value emitCast(OpBuilder &builder, Location loc, Value value, Type element, bool halfInstructions = false);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_EMITCASTS_H
