// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of derivative rules whose factors leave the range of the type although the product does not. All
// divide or multiply the cotangent by one factor after the other, in an order that depends on magnitudes.
// A subnormal intermediate result counts as outside of the range: a later factor would magnify its rounding.

#ifndef ADJOINT_LIB_DIALECT_AD_DERIVATIVES_RANGES_H
#define ADJOINT_LIB_DIALECT_AD_DERIVATIVES_RANGES_H

#include "Rules.h"

#include <functional>

namespace mlir::ad {
/// A value apart by its magnitude: one of the parts is the value, the other 1. The powers of `moderate` that
/// a rule forms are normal numbers; `far` takes part one factor at a time.
struct ByMagnitude {
  /// `power` is the highest power that the rule forms.
  ByMagnitude(RuleBuilder &b, Value value, double power);
  Value isSmall, isLarge, moderate, far;
};

/// The factor s^2 of a product.
struct SquaredFactor {
  /// Where |s| is too small or too large for its square, and where it is above 1.
  Value isSmall, isLarge, grows;
  /// v * s^2 where the square is moderate, else v * s.
  std::function<Value(Value)> first;
  /// v where the square is moderate, else v * s.
  std::function<Value(Value)> second;
};
/// The largest power of a divisor or factor of `SquaredFactor` that `ByMagnitude` may take: 2^48 squared, and
/// a factor of 2^24, are below the largest number of f32.
constexpr double kSquaredPower = 2.5;

/// g * n * s^2.
Value timesSquared(RuleBuilder &b, Value g, Value n, const SquaredFactor &s);
/// g * n / (y^2 * c), c from 1 to 2.
Value overSquare(RuleBuilder &b, Value g, Value n, Value y, Value c = {});
/// g * n * u^4.
Value timesFourthPower(RuleBuilder &b, Value g, Value n, Value u);

/// g * e^x for `OpT` = ExpOp, times `scale`; g * 2^x for Exp2Op.
template <typename OpT> Value timesExponential(RuleBuilder &b, Value g, Value x, double scale = 1.0);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_DERIVATIVES_RANGES_H
