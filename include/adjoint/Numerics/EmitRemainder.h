// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The remainder of floats in integer arithmetic, for targets without an exact instruction or function.
#ifndef ADJOINT_NUMERICS_EMITREMAINDER_H
#define ADJOINT_NUMERICS_EMITREMAINDER_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::numerics {

/// x - y * trunc(x / y) for scalars of f32 or f64, which is exact: fmod of the C library. Emits arith and
/// math operations and a loop, whose iterations are the difference of the exponents.
Value emitRemainder(OpBuilder &builder, Location loc, Value x, Value y);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_EMITREMAINDER_H
