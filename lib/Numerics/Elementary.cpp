// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Names and scalar values of the elementary functions.
#include "adjoint/Numerics/Elementary.h"
#include "adjoint/Numerics/Math/Approximate.h"
#include "adjoint/Numerics/Math/Dispatch.h"

namespace mlir::ad::numerics {

static constexpr std::string_view names[elementaryCount] = {
    "exp",   "exp2",  "expm1", "log",     "log2", "log1p",     "sin",  "cos",      "tan", "tanh", "sqrt",
    "rsqrt", "recip", "erf",   "sigmoid", "gelu", "gelu_tanh", "silu", "softplus", "pow", "atan2"};

std::string_view elementaryName(Elementary function) { return names[static_cast<int>(function)]; }

std::optional<Elementary> elementaryFromName(std::string_view name) {
  for (int i = 0; i < elementaryCount; ++i)
    if (names[i] == name)
      return static_cast<Elementary>(i);
  return std::nullopt;
}

float evaluate(Elementary function, float first, float second) {
  ScalarBuilder builder;
  return applyElementary<float>(builder, function, first, second);
}

double evaluate(Elementary function, double first, double second) {
  ScalarBuilder builder;
  return applyElementary<double>(builder, function, first, second);
}

float evaluateApproximate(Elementary function, float x) {
  ScalarBuilder builder;
  return applyApproximation<ScalarBuilder>(builder, function, x);
}

} // namespace mlir::ad::numerics
