// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From the name of an elementary function to its text.
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
  case Elementary::Exp:
    return exp<T>(b, x);
  case Elementary::Exp2:
    return exp2<T>(b, x);
  case Elementary::Expm1:
    return expm1<T>(b, x);
  case Elementary::Log:
    return log<T>(b, x);
  case Elementary::Log2:
    return log2<T>(b, x);
  case Elementary::Log1p:
    return log1p<T>(b, x);
  case Elementary::Sin:
    return sin<T>(b, x);
  case Elementary::Cos:
    return cos<T>(b, x);
  case Elementary::Tan:
    return tan<T>(b, x);
  case Elementary::Tanh:
    return tanh<T>(b, x);
  case Elementary::Sqrt:
    return sqrt<T>(b, x);
  case Elementary::Rsqrt:
    return rsqrt<T>(b, x);
  case Elementary::Recip:
    return recip<T>(b, x);
  case Elementary::Erf:
    return erf<T>(b, x);
  case Elementary::Sigmoid:
    return sigmoid<T>(b, x);
  case Elementary::Gelu:
    return gelu<T>(b, x);
  case Elementary::GeluTanh:
    return geluTanh<T>(b, x);
  case Elementary::Silu:
    return silu<T>(b, x);
  case Elementary::Softplus:
    return softplus<T>(b, x);
  case Elementary::Pow:
    return pow<T>(b, x, y);
  case Elementary::Atan2:
    return atan2<T>(b, x, y);
  }
  return x;
}

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MATH_DISPATCH_H
