// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The exact values of the elementary functions, from MPFR, and the error of a result.
#ifndef ADJOINT_TEST_NUMERICS_ORACLE_H
#define ADJOINT_TEST_NUMERICS_ORACLE_H

#include "adjoint/Numerics/ElementType.h"
#include "adjoint/Numerics/Elementary.h"
#include <mpfr.h>

namespace mlir::ad::numerics::test {

/// The range of the values of a float type: smallest exponent of a normal number, bits of precision.
struct FloatRange {
  int precision, lowestExponent, highestExponent;
  bool saturates;
};
FloatRange floatRange(ElementType type);

/// One MPFR value of each kind that a function needs; reused, because allocation costs more than most
/// functions.
class Oracle {
public:
  explicit Oracle(int precision);
  ~Oracle();
  Oracle(const Oracle &) = delete;
  Oracle &operator=(const Oracle &) = delete;

  /// The error of `result` against function(x, y), in units in the last place of the exact value in `type`;
  /// at least 1e9 when class (NaN, infinity, zero) or the sign of a zero is wrong.
  double error(Elementary function, double x, double y, double result, ElementType type);

private:
  void compute(Elementary function, double x, double y);
  bool limit(Elementary function, double x);
  void logistic();
  double distance(double result, FloatRange range);

  mpfr_t first, second, exact, temporary;
};

} // namespace mlir::ad::numerics::test

#endif // ADJOINT_TEST_NUMERICS_ORACLE_H
