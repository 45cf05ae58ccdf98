// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The MPFR formulas of the elementary functions.
#include "Oracle.h"
#include <cmath>

namespace mlir::ad::numerics::test {

static constexpr double wrong = 1e9;

FloatRange floatRange(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return {53, -1022, 1023, false};
  case ElementType::F32:
    return {24, -126, 127, false};
  case ElementType::F16:
    return {11, -14, 15, false};
  case ElementType::BF16:
    return {8, -126, 127, false};
  case ElementType::F8E4M3FN:
    return {4, -6, 8, true};
  default:
    return {3, -14, 15, true};
  }
}

Oracle::Oracle(int precision) { mpfr_inits2(precision, first, second, exact, temporary, nullptr); }

Oracle::~Oracle() { mpfr_clears(first, second, exact, temporary, nullptr); }

/// Limits that the formulas below would turn into 0 * infinity, and the convention 1/sqrt(-0) = -infinity.
bool Oracle::limit(Elementary function, double x) {
  bool product =
      function == Elementary::Gelu || function == Elementary::GeluTanh || function == Elementary::Silu;
  if (product && std::isinf(x)) {
    mpfr_set_d(exact, x > 0 ? x : -0.0, MPFR_RNDN);
    return true;
  }
  if (function == Elementary::Rsqrt && x == 0) {
    mpfr_set_inf(exact, std::signbit(x) ? -1 : 1);
    return true;
  }
  return false;
}

/// exact = 1 / (1 + e^-temporary).
void Oracle::logistic() {
  mpfr_neg(temporary, temporary, MPFR_RNDN);
  mpfr_exp(temporary, temporary, MPFR_RNDN);
  mpfr_add_ui(temporary, temporary, 1, MPFR_RNDN);
  mpfr_ui_div(exact, 1, temporary, MPFR_RNDN);
}

void Oracle::compute(Elementary function, double x, double y) {
  mpfr_set_d(first, x, MPFR_RNDN);
  mpfr_set_d(second, y, MPFR_RNDN);
  if (limit(function, x))
    return;
  switch (function) {
  case Elementary::Exp:
    mpfr_exp(exact, first, MPFR_RNDN);
    break;
  case Elementary::Exp2:
    mpfr_exp2(exact, first, MPFR_RNDN);
    break;
  case Elementary::Expm1:
    mpfr_expm1(exact, first, MPFR_RNDN);
    break;
  case Elementary::Log:
    mpfr_log(exact, first, MPFR_RNDN);
    break;
  case Elementary::Log2:
    mpfr_log2(exact, first, MPFR_RNDN);
    break;
  case Elementary::Log1p:
    mpfr_log1p(exact, first, MPFR_RNDN);
    break;
  case Elementary::Sin:
    mpfr_sin(exact, first, MPFR_RNDN);
    break;
  case Elementary::Cos:
    mpfr_cos(exact, first, MPFR_RNDN);
    break;
  case Elementary::Tan:
    mpfr_tan(exact, first, MPFR_RNDN);
    break;
  case Elementary::Tanh:
    mpfr_tanh(exact, first, MPFR_RNDN);
    break;
  case Elementary::Sqrt:
    mpfr_sqrt(exact, first, MPFR_RNDN);
    break;
  case Elementary::Rsqrt:
    mpfr_rec_sqrt(exact, first, MPFR_RNDN);
    break;
  case Elementary::Recip:
    mpfr_ui_div(exact, 1, first, MPFR_RNDN);
    break;
  case Elementary::Erf:
    mpfr_erf(exact, first, MPFR_RNDN);
    break;
  case Elementary::Sigmoid:
    mpfr_set(temporary, first, MPFR_RNDN);
    logistic();
    break;
  case Elementary::Gelu: // x erfc(-x / sqrt 2) / 2
    mpfr_sqrt_ui(temporary, 2, MPFR_RNDN);
    mpfr_div(temporary, first, temporary, MPFR_RNDN);
    mpfr_neg(temporary, temporary, MPFR_RNDN);
    mpfr_erfc(exact, temporary, MPFR_RNDN);
    mpfr_mul(exact, exact, first, MPFR_RNDN);
    mpfr_div_2ui(exact, exact, 1, MPFR_RNDN);
    break;
  case Elementary::GeluTanh: // x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3)
    mpfr_sqr(temporary, first, MPFR_RNDN);
    mpfr_set_str(exact, "0.044715", 10, MPFR_RNDN);
    mpfr_mul(temporary, temporary, exact, MPFR_RNDN);
    mpfr_add_ui(temporary, temporary, 1, MPFR_RNDN);
    mpfr_mul(temporary, temporary, first, MPFR_RNDN);
    mpfr_const_pi(exact, MPFR_RNDN);
    mpfr_ui_div(exact, 8, exact, MPFR_RNDN);
    mpfr_sqrt(exact, exact, MPFR_RNDN);
    mpfr_mul(temporary, temporary, exact, MPFR_RNDN);
    logistic();
    mpfr_mul(exact, exact, first, MPFR_RNDN);
    break;
  case Elementary::Silu:
    mpfr_set(temporary, first, MPFR_RNDN);
    logistic();
    mpfr_mul(exact, exact, first, MPFR_RNDN);
    break;
  case Elementary::Softplus: // max(x, 0) + log(1 + e^-|x|)
    mpfr_abs(temporary, first, MPFR_RNDN);
    mpfr_neg(temporary, temporary, MPFR_RNDN);
    mpfr_exp(temporary, temporary, MPFR_RNDN);
    mpfr_log1p(exact, temporary, MPFR_RNDN);
    if (x > 0 || std::isnan(x))
      mpfr_add(exact, exact, first, MPFR_RNDN);
    break;
  case Elementary::Pow:
    mpfr_pow(exact, first, second, MPFR_RNDN);
    break;
  case Elementary::Atan2:
    mpfr_atan2(exact, first, second, MPFR_RNDN);
    break;
  }
}

double Oracle::distance(double result, FloatRange range) {
  long exponent = mpfr_get_exp(exact) - 1;
  exponent = exponent < range.lowestExponent ? range.lowestExponent : exponent;
  exponent = exponent > range.highestExponent ? range.highestExponent : exponent;
  if (std::isinf(result)) { // the next value after the largest one, if the exponent were not limited
    mpfr_set_si(temporary, result > 0 ? 1 : -1, MPFR_RNDN);
    mpfr_mul_2si(temporary, temporary, range.highestExponent + 1, MPFR_RNDN);
    bool beyond = mpfr_cmpabs(exact, temporary) >= 0 && mpfr_sgn(exact) == mpfr_sgn(temporary);
    if (beyond)
      return 0;
  } else {
    mpfr_set_d(temporary, result, MPFR_RNDN);
  }
  mpfr_sub(temporary, temporary, exact, MPFR_RNDN);
  mpfr_abs(temporary, temporary, MPFR_RNDN);
  mpfr_mul_2si(temporary, temporary, range.precision - 1 - exponent, MPFR_RNDN);
  return mpfr_get_d(temporary, MPFR_RNDU);
}

/// The largest finite value of an 8-bit type.
static double saturated(FloatRange range) { return range.precision == 4 ? 448.0 : 57344.0; }

double Oracle::error(Elementary function, double x, double y, double result, ElementType type) {
  compute(function, x, y);
  FloatRange range = floatRange(type);
  if (mpfr_nan_p(exact))
    return std::isnan(result) ? 0 : wrong;
  if (std::isnan(result))
    return wrong;
  if (range.saturates && mpfr_cmp_d(exact, saturated(range)) >= 0)
    return result == saturated(range) ? 0 : wrong;
  if (range.saturates && mpfr_cmp_d(exact, -saturated(range)) <= 0)
    return result == -saturated(range) ? 0 : wrong;
  if (mpfr_inf_p(exact))
    return std::isinf(result) && (result > 0) == (mpfr_sgn(exact) > 0) ? 0 : wrong;
  if (result == 0 && std::signbit(result) != (mpfr_signbit(exact) != 0))
    return wrong;
  if (mpfr_zero_p(exact))
    return result == 0 ? 0 : wrong;
  return distance(result, range);
}

} // namespace mlir::ad::numerics::test
