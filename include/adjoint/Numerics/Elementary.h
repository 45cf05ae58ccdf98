// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The elementary functions by name, and their values. The same texts (Math/*.h) make the code that compiled
// programs run (EmitElementary.h), so both give the same bits. docs/numerics-functions.md lists formulas and
// error bounds.
#ifndef ADJOINT_NUMERICS_ELEMENTARY_H
#define ADJOINT_NUMERICS_ELEMENTARY_H

#include <optional>
#include <string_view>

namespace mlir::ad::numerics {

/// Numbered like the dialect's ElementaryFunction.
enum class Elementary {
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log1p,
  Sin,
  Cos,
  Tan,
  Tanh,
  Sqrt,
  Rsqrt,
  Recip,
  Erf,
  Sigmoid,
  Gelu,
  GeluTanh,
  Silu,
  Softplus,
  Pow,
  Atan2
};
inline constexpr int elementaryCount = 21;

/// The name in snake case, e.g. "gelu_tanh".
std::string_view elementaryName(Elementary function);
std::optional<Elementary> elementaryFromName(std::string_view name);

/// pow(x, y) and atan2(y, x) take two arguments, in this order; all others one.
inline bool isBinary(Elementary function) {
  return function == Elementary::Pow || function == Elementary::Atan2;
}

/// Whether there is a shorter form for the permission `approx`.
inline bool hasApproximation(Elementary function) {
  switch (function) {
  case Elementary::Tanh:
  case Elementary::Erf:
  case Elementary::Sigmoid:
  case Elementary::Gelu:
  case Elementary::GeluTanh:
  case Elementary::Silu:
    return true;
  default:
    return false;
  }
}

float evaluate(Elementary function, float first, float second = 0);
double evaluate(Elementary function, double first, double second = 0);

/// The shorter form of a function that has one.
float evaluateApproximate(Elementary function, float x);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_ELEMENTARY_H
