// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stochastic rounding of an f32 to a 16- or 8-bit float, on the bits of scalars. Math/StochasticRounding.h
// defines it.
#ifndef ADJOINT_NUMERICS_STOCHASTICCAST_H
#define ADJOINT_NUMERICS_STOCHASTICCAST_H

#include "adjoint/Numerics/ElementType.h"

namespace mlir::ad::numerics {

/// The bits of x rounded to `to`, a float of 16 or 8 bits, by a random word.
uint64_t castStochastically(ElementType to, float x, uint32_t word);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_STOCHASTICCAST_H
