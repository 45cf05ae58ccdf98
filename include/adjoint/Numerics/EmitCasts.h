// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits the conversions of Casts.h as `arith` operations.
#ifndef ADJOINT_NUMERICS_EMITCASTS_H
#define ADJOINT_NUMERICS_EMITCASTS_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::numerics {

/// The conversions that a target has as instructions, with the results of Casts.h: one rounding to nearest
/// even, subnormals and infinities kept. Sign and payload of a NaN may differ.
struct CastInstructions {
  bool half = false;   ///< between f16 and f32
  bool bfloat = false; ///< from f32 to bf16; back is a shift
  /// 8-bit floats are widened by way of f16, which is exact: E5M2 is the upper half of an f16, and E4M3 has
  /// fewer exponents. Needs `half`.
  bool bytesByHalf = false;
};

/// Converts `value`, a scalar or fixed one-dimensional vector of one of the ten element types, to `element`.
/// 16- and 8-bit floats are decoded and encoded with arith.bitcast to i16 and i8 and integer arithmetic, or
/// by arith.extf and arith.truncf where the target has `instructions`. No emitted operation computes in these
/// types, and none is undefined for any input.
Value emitCast(OpBuilder &builder, Location loc, Value value, Type element,
               CastInstructions instructions = {});

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_EMITCASTS_H
