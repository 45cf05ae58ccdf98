// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits the rounding of StochasticCast.h as `arith` operations.
#ifndef ADJOINT_NUMERICS_EMITSTOCHASTICCAST_H
#define ADJOINT_NUMERICS_EMITSTOCHASTICCAST_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::numerics {

/// `value` of f32 rounded to `element`, a float of 16 or 8 bits, by `word` of i32. Both are scalars, or
/// vectors of one shape.
Value emitStochasticCast(OpBuilder &builder, Location loc, Value value, Value word, Type element);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_EMITSTOCHASTICCAST_H
