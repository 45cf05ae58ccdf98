// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From the enumerator of an elementary function to its definition.
#ifndef ADJOINT_LIB_NUMERICS_DISPATCH_H
#define ADJOINT_LIB_NUMERICS_DISPATCH_H

#include "Math/Approximate.h"
#include "Math/ErrorFunction.h"
#include "Math/Logarithm.h"
#include "Math/Roots.h"
#include "Math/Trigonometric.h"
#include "adjoint/Numerics/Elementary.h"

namespace mlir::ad::numerics {

/// `function` of x, or of x and y if it takes two arguments.
template <class T, class B> V<B, T> applyElementary(B &b, Elementary function, V<B, T> x, V<B, T> y) {
  switch (function) {
#define ELEMENTARY_FUNCTION(ENUMERATOR, NAME, CALL, OPERANDS, COST)                                          \
  case Elementary::ENUMERATOR:                                                                               \
    return CALL;
#include "adjoint/Numerics/ElementaryFunctions.def"
  }
  return x;
}

/// The shorter form of a function that has one.
template <class B> V<B, float> applyApproximation(B &b, Elementary function, V<B, float> x) {
  switch (function) {
#define ELEMENTARY_APPROXIMATION(ENUMERATOR, CALL)                                                           \
  case Elementary::ENUMERATOR:                                                                               \
    return CALL;
#include "adjoint/Numerics/ElementaryFunctions.def"
  default:
    return x; // hasApproximation says no
  }
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_DISPATCH_H
