// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Products in an order in which no intermediate result leaves the range of the type.

#include "Ranges.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad;

ByMagnitude::ByMagnitude(RuleBuilder &b, Value value, double power) {
  double bound = std::exp2(b.ofType(value, 120.0, 960.0) / power);
  Value magnitude = b.unary<AbsOp>(value);
  isSmall = b.compare(ComparePredicate::lt, magnitude, 1.0 / bound);
  isLarge = b.compare(ComparePredicate::gt, magnitude, bound);
  Value isFar = b.binary<OrOp>(isSmall, isLarge), one = b.number(value, 1.0);
  moderate = b.select(isFar, one, value);
  far = b.select(isFar, value, one);
}

// With |a| >= |b| of g and n, and the factor s^2 above 2^96 or below 2^-96 where it is not moderate (f32):
//   moderate, s > 1, |a| >= 2^24    (a b) s^2: a b is normal; if it overflows, so does the product
//   other moderate                  (a s^2) b: a s^2 does not overflow; if it underflows, so does the product
//   small, |b| <= 1                 ((a s) b) s: no step grows
//   small, |b| > 1                  (a s) (b s): both are below the largest number, and b s is normal
//   large, |a| >= 2^-24             ((b s) a) s: b s is normal, and so is the product with a
//   large, |a| < 2^-24              (a s) (b s): both are normal numbers
// f64 has 2^64 in the place of 2^24.
Value ad::timesSquared(RuleBuilder &b, Value g, Value n, const SquaredFactor &s) {
  constexpr ComparePredicate lt = ComparePredicate::lt, ge = ComparePredicate::ge, gt = ComparePredicate::gt;
  double shift = b.ofType(g, 0x1p24, 0x1p64);
  Value isLarger = b.compare(ge, b.unary<AbsOp>(g), b.unary<AbsOp>(n));
  Value larger = b.select(isLarger, g, n), smaller = b.select(isLarger, n, g), one = b.number(g, 1.0);
  Value magnitude = b.unary<AbsOp>(larger);
  Value both =
      b.binary<AndOp>(b.binary<AndOp>(s.grows, b.compare(ge, magnitude, shift)), b.unary<NotOp>(s.isLarge));
  Value swap = b.binary<AndOp>(s.isLarge, b.compare(ge, magnitude, 1.0 / shift));
  Value apart = b.binary<OrOp>(b.binary<AndOp>(s.isLarge, b.compare(lt, magnitude, 1.0 / shift)),
                               b.binary<AndOp>(s.isSmall, b.compare(gt, b.unary<AbsOp>(smaller), 1.0)));
  Value start = b.select(swap, smaller, larger), other = b.select(swap, larger, smaller);
  Value first = s.first(b.select(both, b.mul(start, other), start));
  Value rest = b.select(both, one, other);
  Value second = s.second(b.select(apart, rest, b.mul(first, rest)));
  return b.select(apart, b.mul(first, second), second);
}

Value ad::overSquare(RuleBuilder &b, Value g, Value n, Value y, Value c) {
  ByMagnitude parts(b, y, kSquaredPower);
  Value square = b.square(parts.moderate), outside;
  if (c) {
    Value isFar = b.binary<OrOp>(parts.isSmall, parts.isLarge), one = b.number(c, 1.0);
    square = b.mul(square, b.select(isFar, one, c));
    outside = b.select(isFar, c, one);
  }
  Value divisor = b.mul(square, parts.far);
  SquaredFactor factor{/*isSmall=*/parts.isLarge, /*isLarge=*/parts.isSmall,
                       b.compare(ComparePredicate::lt, b.unary<AbsOp>(y), 1.0),
                       [&](Value v) {
                         v = b.div(v, divisor);
                         return c ? b.div(v, outside) : v;
                       },
                       [&](Value v) { return b.div(v, parts.far); }};
  return timesSquared(b, g, n, factor);
}

// Half of the factors u come first.
Value ad::timesFourthPower(RuleBuilder &b, Value g, Value n, Value u) {
  ByMagnitude parts(b, u, 2 * kSquaredPower);
  Value fourth = b.square(b.square(parts.moderate));
  auto twice = [&](Value v) { return b.mul(b.mul(v, parts.far), parts.far); };
  SquaredFactor factor{parts.isSmall, parts.isLarge, b.compare(ComparePredicate::gt, b.unary<AbsOp>(u), 1.0),
                       [&](Value v) { return twice(b.mul(v, fourth)); }, twice};
  return timesSquared(b, g, n, factor);
}

// Far from 0 the power is that of a quarter of x, four times: then neither it nor a product with it leaves
// the range before the last product does. Beyond the clamp every product overflows or is 0.
template <typename OpT> Value ad::timesExponential(RuleBuilder &b, Value g, Value x, double scale) {
  constexpr bool isBinary = std::is_same_v<OpT, Exp2Op>;
  double normal = isBinary ? b.ofType(x, 120.0, 1000.0) : b.ofType(x, 80.0, 700.0);
  double farthest = isBinary ? b.ofType(x, 300.0, 2200.0) : b.ofType(x, 200.0, 1500.0);
  Value clamped = b.clamp(x, -farthest, farthest), one = b.number(x, 1.0);
  Value isNormal = b.compare(ComparePredicate::le, b.unary<AbsOp>(clamped), normal);
  Value power = b.unary<OpT>(b.select(isNormal, clamped, b.mul(clamped, 0.25)));
  Value again = b.select(isNormal, one, power);
  Value product = b.mul(g, scale == 1.0 ? power : b.mul(power, scale));
  for (int i = 0; i < 3; ++i)
    product = b.mul(product, again);
  return product;
}
template Value ad::timesExponential<ExpOp>(RuleBuilder &, Value, Value, double);
template Value ad::timesExponential<Exp2Op>(RuleBuilder &, Value, Value, double);
