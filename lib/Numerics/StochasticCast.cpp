// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Stochastic rounding of scalars.
#include "adjoint/Numerics/StochasticCast.h"
#include "Math/StochasticRounding.h"
#include "NarrowFormats.h"

namespace mlir::ad::numerics {

uint64_t castStochastically(ElementType to, float x, uint32_t word) {
  ScalarBuilder b;
  return narrowStochastically<ScalarBuilder>(b, x, word, narrowFormat(to));
}

} // namespace mlir::ad::numerics
