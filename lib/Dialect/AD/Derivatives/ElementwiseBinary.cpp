// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of elementwise operations with two or three operands. `Rule::giveSummed` sums each
// cotangent to the shape of its operand, which may have been broadcast.

#include "Ranges.h"
#include "adjoint/Dialect/AD/IR/ADRandomOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::ad;

namespace {
/// Operands, result and cotangent; with `wide` in the compute type, cast at the first use.
class Binary : public RuleBuilder {
public:
  Binary(Rule &rule, Value lhs, Value rhs, Value result, bool wide)
      : RuleBuilder(rule), lhs(lhs), rhs(rhs), result(result), given(rule.cotangent), wide(wide) {}
  Value x() { return widened(lhs); }
  Value y() { return widened(rhs); }
  Value z() { return widened(result); }
  Value g() { return widened(given); }

private:
  Value widened(Value &value) { return wide ? value = widen(value) : value; }
  Value lhs, rhs, result, given;
  bool wide;
};
} // namespace

// A rule that rounds at most once need not widen, unless a sum over broadcast dimensions follows.
template <typename OpT, Value (*ofLhs)(Binary &), Value (*ofRhs)(Binary &), bool roundsOnce = false>
static LogicalResult binaryRule(OpT op, Rule &rule) {
  bool wide = !roundsOnce || op.getLhs().getType() != op.getRhs().getType();
  Binary values(rule, op.getLhs(), op.getRhs(), op.getResult(), wide);
  if (rule.wants(0))
    rule.giveSummed(0, ofLhs(values));
  if (rule.wants(1))
    rule.giveSummed(1, ofRhs(values));
  return success();
}

//===- Arithmetic -===//

static Value cotangentItself(Binary &v) { return v.g(); }
static Value negatedCotangent(Binary &v) { return v.neg(v.g()); }
static Value mulLhs(Binary &v) { return v.mul(v.g(), v.y()); }
static Value mulRhs(Binary &v) { return v.mul(v.g(), v.x()); }
static Value divLhs(Binary &v) { return v.div(v.g(), v.y()); }
static Value divRhs(Binary &v) { return v.neg(overSquare(v, v.g(), v.x(), v.y())); }

// The truncated quotient is (x - z) / y up to rounding errors of that formula, which the rounding to an
// integer removes. A quotient that may overflow is an integer anyway, and the cotangent multiplies in
// between.
static Value remRhs(Binary &v) {
  constexpr ComparePredicate ge = ComparePredicate::ge;
  double largest = v.ofType(v.g(), 0x1p100, 0x1p1000), shift = v.ofType(v.g(), 0x1p32, 0x1p64);
  Value whole = v.sub(v.x(), v.z()), one = v.number(whole, 1.0);
  // Below 1 the product with the largest number is safe, above it the quotient.
  Value magnitude = v.unary<AbsOp>(whole), divisor = v.unary<AbsOp>(v.y());
  Value isFar = v.binary<AndOp>(v.compare(ComparePredicate::lt, divisor, 1.0),
                                v.compare(ge, magnitude, v.mul(divisor, largest)));
  Value quotient = v.unary<RoundEvenOp>(v.div(v.select(isFar, one, whole), v.select(isFar, one, v.y())));
  Value before = v.binary<OrOp>(v.compare(ge, magnitude, shift),
                                v.compare(ge, v.unary<AbsOp>(v.g()), v.ofType(v.g(), 0x1p-64, 0x1p-512)));
  Value far = v.div(v.mul(v.g(), v.select(before, whole, one)), v.y());
  far = v.mul(far, v.select(before, one, whole));
  return v.neg(v.select(isFar, far, v.mul(v.g(), quotient)));
}

static constexpr ComparePredicate gt = ComparePredicate::gt, lt = ComparePredicate::lt;

//===- Maximum and minimum: half the cotangent to each of two equal operands -===//

template <ComparePredicate wins> static Value extremumLhs(Binary &v) {
  Value tied = v.onlyWhere(v.compare(ComparePredicate::eq, v.x(), v.y()), v.mul(v.g(), 0.5));
  return v.select(v.compare(wins, v.x(), v.y()), v.g(), tied);
}
template <ComparePredicate wins> static Value extremumRhs(Binary &v) {
  Value tied = v.onlyWhere(v.compare(ComparePredicate::eq, v.x(), v.y()), v.mul(v.g(), 0.5));
  return v.select(v.compare(wins, v.y(), v.x()), v.g(), tied);
}

//===- pow and atan2 -===//

static Value isInteger(Binary &v, Value y) { return v.compare(ComparePredicate::eq, v.unary<FloorOp>(y), y); }

// The sign of x^(y-1) for x < 0, NaN if x is finite and y no integer; else 1.
static Value signOfPower(Binary &v) {
  Value half = v.mul(v.y(), 0.5), one = v.number(half, 1.0), minusOne = v.number(half, -1.0);
  Value infinite = v.compare(ComparePredicate::eq, v.x(), -std::numeric_limits<double>::infinity());
  Value undefined = v.select(infinite, one, v.number(half, std::numeric_limits<double>::quiet_NaN()));
  Value sign = v.select(isInteger(v, v.y()), v.select(isInteger(v, half), minusOne, one), undefined);
  return v.select(v.compare(ComparePredicate::lt, v.x(), 0.0), sign, one);
}

// A fourth root u of a power. From 2^100 on (f32) every product with u^4 overflows, but for that with 0.
static Value clampedRoot(Binary &v, Value u) {
  return v.binary<MinOp>(u, v.number(u, v.ofType(u, 0x1p100, 0x1p800)));
}

static Value isBetween(Binary &v, Value x, double low, double high) {
  Value magnitude = v.unary<AbsOp>(x);
  return v.binary<AndOp>(v.compare(ComparePredicate::ge, magnitude, low),
                         v.compare(ComparePredicate::le, magnitude, high));
}
// Where z has all digits also in f16, and its products with ordinary factors are far from the ends of f32.
static Value isOrdinary(Binary &v) { return isBetween(v, v.z(), 0x1p-14, 0x1p14); }

// y * x^(y-1). Usually that is y * (z / x). Else the power is the fourth power of x^(y/4) * x^(-1/4): y/4 is
// exact, unlike y - 1. Where x is 0 or infinite the power itself gives the limit. x^0 is constant also at
// x = 0, where 0 * 0^-1 would be NaN.
static Value powLhs(Binary &v) {
  constexpr ComparePredicate eq = ComparePredicate::eq;
  Value x = v.x(), y = v.y(), magnitude = v.unary<AbsOp>(x), one = v.number(x, 1.0);
  Value isZero = v.compare(eq, x, 0.0), isConstant = v.compare(eq, y, 0.0);
  Value isLimit = v.binary<OrOp>(isZero, v.compare(eq, magnitude, std::numeric_limits<double>::infinity()));
  Value isUsual = v.binary<AndOp>(
      isOrdinary(v), v.binary<AndOp>(isBetween(v, x, 0x1p-48, 0x1p48), isBetween(v, y, 0x1p-32, 0x1p32)));
  Value usual = v.div(v.select(isUsual, v.z(), one), v.select(isUsual, x, one));
  Value exponent = v.select(isLimit, v.select(isConstant, one, v.add(y, -1.0)), v.mul(y, 0.25));
  Value base = v.select(v.binary<AndOp>(isZero, isInteger(v, y)), x, magnitude);
  Value power = v.binary<PowOp>(base, exponent);
  Value inverseRoot = v.unary<RsqrtOp>(v.unary<SqrtOp>(v.select(isLimit, one, magnitude)));
  Value root = v.select(v.binary<OrOp>(isLimit, isUsual), one, clampedRoot(v, v.mul(power, inverseRoot)));
  Value factor = v.select(isUsual, one, v.mul(v.select(isLimit, power, one), signOfPower(v)));
  Value slope = timesFourthPower(v, v.mul(v.g(), factor), v.mul(y, usual), root);
  return v.onlyWhere(v.unary<NotOp>(isConstant), slope);
}

// z * ln x, where z may leave the range as the fourth power of x^(y/4). The limits are 0 for x = 0 and y > 0,
// and for infinite x and y < 0; 0^0 counts as constant. There the base is 1 instead: an infinity must not
// meet a zero cotangent when this rule is differentiated.
static Value powRhs(Binary &v) {
  constexpr ComparePredicate eq = ComparePredicate::eq;
  Value x = v.x(), y = v.y(), one = v.number(x, 1.0);
  Value isZero = v.compare(eq, x, 0.0);
  Value isInfinite = v.compare(eq, x, std::numeric_limits<double>::infinity());
  Value vanishes = v.binary<OrOp>(v.binary<AndOp>(isZero, v.compare(ComparePredicate::ge, y, 0.0)),
                                  v.binary<AndOp>(isInfinite, v.compare(ComparePredicate::lt, y, 0.0)));
  Value isDirect = v.binary<OrOp>(isOrdinary(v), v.binary<OrOp>(isZero, isInfinite));
  Value base = v.select(vanishes, one, x);
  Value root = v.select(isDirect, one, clampedRoot(v, v.binary<PowOp>(base, v.mul(y, 0.25))));
  return timesFourthPower(v, v.g(), v.mul(v.unary<LogOp>(base), v.select(isDirect, v.z(), one)), root);
}

// g times an operand over the sum of both squares, l^2 (1 + r^2) with l the larger of them and r the smaller
// one over l. An infinite operand decides the angle.
static Value atan2Share(Binary &v, Value numerator, Value other) {
  Value magnitude = v.unary<AbsOp>(numerator);
  Value isLarger = v.compare(ComparePredicate::ge, magnitude, v.unary<AbsOp>(other));
  Value larger = v.select(isLarger, numerator, other), smaller = v.select(isLarger, other, numerator);
  Value isInfinite = v.compare(ComparePredicate::eq, magnitude, std::numeric_limits<double>::infinity());
  Value finite = v.select(isInfinite, v.number(numerator, 0.0), numerator);
  return overSquare(v, v.g(), finite, larger, v.add(v.square(v.div(smaller, larger)), 1.0));
}
// The first operand of atan2 is the ordinate.
static Value atan2Lhs(Binary &v) { return atan2Share(v, v.y(), v.x()); }
static Value atan2Rhs(Binary &v) { return v.neg(atan2Share(v, v.x(), v.y())); }

//===- Three operands -===//

static LogicalResult selectRule(SelectOp op, Rule &rule) {
  Value zero = rule.number(rule.cotangent, 0.0);
  if (rule.wants(1))
    rule.giveSummed(1, rule.select(op.getCondition(), rule.cotangent, zero));
  if (rule.wants(2))
    rule.giveSummed(2, rule.select(op.getCondition(), zero, rule.cotangent));
  return success();
}

static LogicalResult clampRule(ClampOp op, Rule &rule) {
  Value x = op.getInput();
  if (rule.wants(0)) {
    Value above = rule.compare(ComparePredicate::ge, x, op.getLow());
    Value below = rule.compare(ComparePredicate::le, x, op.getHigh());
    rule.giveSummed(0, rule.onlyWhere(rule.binary<AndOp>(above, below), rule.cotangent));
  }
  // Where low > high the result is high, whatever x is.
  if (rule.wants(1)) {
    Value below = rule.compare(ComparePredicate::lt, x, op.getLow());
    Value ordered = rule.compare(ComparePredicate::le, op.getLow(), op.getHigh());
    rule.giveSummed(1, rule.onlyWhere(rule.binary<AndOp>(below, ordered), rule.cotangent));
  }
  if (rule.wants(2)) {
    Value above = rule.compare(ComparePredicate::gt, x, op.getHigh());
    Value crossed = rule.compare(ComparePredicate::gt, op.getLow(), op.getHigh());
    rule.giveSummed(2, rule.onlyWhere(rule.binary<OrOp>(above, crossed), rule.cotangent));
  }
  return success();
}

template <typename OpT> static LogicalResult fmaRule(OpT op, Rule &rule) {
  if (rule.wants(0))
    rule.giveSummed(0, rule.mul(rule.cotangent, op->getOperand(1)));
  if (rule.wants(1))
    rule.giveSummed(1, rule.mul(rule.cotangent, op->getOperand(0)));
  if (rule.wants(2))
    rule.giveSummed(2, rule.cotangent);
  return success();
}

// The rounding counts as the identity: on average it is.
static LogicalResult castStochasticRule(CastStochasticOp op, Rule &rule) {
  if (rule.wants(0))
    rule.giveSummed(0, rule.cast(rule.cotangent, getElementTypeOrSelf(op.getInput().getType())));
  return success();
}

//===- Scalars and vectors -===//

static LogicalResult elementaryRule(ElementaryOp op, Rule &rule) {
  if (!numerics::isBinary(op.getFunction()))
    return unaryElementaryRule(op, rule);
  Binary values(rule, op->getOperand(0), op->getOperand(1), op.getResult(), /*wide=*/true);
  bool isPower = op.getFunction() == numerics::Elementary::Pow;
  if (rule.wants(0))
    rule.give(0, isPower ? powLhs(values) : atan2Lhs(values));
  if (rule.wants(1))
    rule.give(1, isPower ? powRhs(values) : atan2Rhs(values));
  return success();
}

void ad::attachArithBinaryRules(MLIRContext *context) {
  using namespace arith;
  attachRule<AddFOp, binaryRule<AddFOp, cotangentItself, cotangentItself, true>>(context);
  attachRule<SubFOp, binaryRule<SubFOp, cotangentItself, negatedCotangent, true>>(context);
  attachRule<MulFOp, binaryRule<MulFOp, mulLhs, mulRhs, true>>(context);
  attachRule<DivFOp, binaryRule<DivFOp, divLhs, divRhs>>(context);
  attachRule<RemFOp, binaryRule<RemFOp, cotangentItself, remRhs>>(context);
  attachRule<MaximumFOp, binaryRule<MaximumFOp, extremumLhs<gt>, extremumRhs<gt>>>(context);
  attachRule<MinimumFOp, binaryRule<MinimumFOp, extremumLhs<lt>, extremumRhs<lt>>>(context);
  attachRule<MaxNumFOp, binaryRule<MaxNumFOp, extremumLhs<gt>, extremumRhs<gt>>>(context);
  attachRule<MinNumFOp, binaryRule<MinNumFOp, extremumLhs<lt>, extremumRhs<lt>>>(context);
}

void ad::attachMathBinaryRules(MLIRContext *context) {
  attachRule<math::PowFOp, binaryRule<math::PowFOp, powLhs, powRhs>>(context);
  attachRule<math::Atan2Op, binaryRule<math::Atan2Op, atan2Lhs, atan2Rhs>>(context);
  attachRule<math::FmaOp, fmaRule<math::FmaOp>>(context);
}

//===- Registration -===//

void ad::attachBinaryRules(MLIRContext *context) {
  attachRule<AddOp, binaryRule<AddOp, cotangentItself, cotangentItself, true>>(context);
  attachRule<SubOp, binaryRule<SubOp, cotangentItself, negatedCotangent, true>>(context);
  attachRule<MulOp, binaryRule<MulOp, mulLhs, mulRhs, true>>(context);
  attachRule<DivOp, binaryRule<DivOp, divLhs, divRhs>>(context);
  attachRule<RemOp, binaryRule<RemOp, cotangentItself, remRhs>>(context);
  attachRule<MaxOp, binaryRule<MaxOp, extremumLhs<gt>, extremumRhs<gt>>>(context);
  attachRule<MinOp, binaryRule<MinOp, extremumLhs<lt>, extremumRhs<lt>>>(context);
  attachRule<PowOp, binaryRule<PowOp, powLhs, powRhs>>(context);
  attachRule<Atan2Op, binaryRule<Atan2Op, atan2Lhs, atan2Rhs>>(context);
  attachRule<ElementaryOp, elementaryRule>(context);
  attachRule<SelectOp, selectRule>(context);
  attachRule<ClampOp, clampRule>(context);
  attachRule<FmaOp, fmaRule<FmaOp>>(context);
  attachRule<CastStochasticOp, castStochasticRule>(context);
  attachZeroRules<AndOp, OrOp, XorOp, ShiftLeftOp, ShiftRightOp, ShiftRightLogicalOp, CompareOp, RngBitsOp,
                  RngUniformOp, RngNormalOp>(context);
}
