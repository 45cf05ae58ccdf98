// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From an enumerator of an elementary function to its text.
#ifndef ADJOINT_NUMERICS_MATH_DISPATCH_H
#define ADJOINT_NUMERICS_MATH_DISPATCH_H

#include "adjoint/Numerics/Elementary.h"
#include "adjoint/Numerics/Math/ErrorFunction.h"
#include "adjoint/Numerics/Math/Logarithm.h"
#include "adjoint/Numerics/Math/Roots.h"
#include "adjoint/Numerics/Math/Trigonometric.h"

namespace mlir::ad::numerics {

/// `function` of x, and of y when it takes two arguments; any other y is ignored.
template <class T, class B> V<B, T> applyElementary(B &b, Elementary function, V<B, T> x, V<B, T> y) {
  switch (function) {
#define ELEMENTARY_FUNCTION(ENUMERATOR, NAME, CALL, OPERANDS, COST)                                          \
  case Elementary::ENUMERATOR:                                                                               \
    return CALL;
#include "adjoint/Numerics/ElementaryFunctions.def"
  }
  return x;
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_DISPATCH_H
