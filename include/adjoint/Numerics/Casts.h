// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions between element types, on the bits of scalars. EmitCasts.h emits the same conversions as code.
//
// To a narrower float: round to nearest even once, subnormals kept, NaN stays NaN. f16 and bf16 overflow to
// infinity; f8 saturates to the largest finite value, also for infinities (so no cast gives an f8E5M2
// infinity). Float to integer: towards zero, saturating, NaN gives 0. Float or integer to i1: x != 0, so NaN
// gives 1. Integer to float: round to nearest even once. Integer to integer: wraps or extends the sign; i1 is
// 0 or 1.
#ifndef ADJOINT_NUMERICS_CASTS_H
#define ADJOINT_NUMERICS_CASTS_H

#include "adjoint/Numerics/ElementType.h"

namespace mlir::ad::numerics {

/// Converts the element in the low bits of `bits`. Higher bits are ignored, and those of the result are zero.
uint64_t castScalar(ElementType from, ElementType to, uint64_t bits);

/// castScalar from or to a float or an integer of C++.
double toDouble(ElementType from, uint64_t bits);
float toFloat(ElementType from, uint64_t bits);
uint64_t fromDouble(ElementType to, double value);
uint64_t fromFloat(ElementType to, float value);
int64_t toInteger(ElementType from, uint64_t bits);
uint64_t fromInteger(ElementType to, int64_t value);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_CASTS_H
