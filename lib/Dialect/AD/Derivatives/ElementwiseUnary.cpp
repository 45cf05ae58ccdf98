// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of elementwise operations with one operand. A rule computes in the operation's compute
// type (f32 for 16- and 8-bit floats) and rounds once at its end, as the operation itself does.

#include "Ranges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
constexpr double kLn2 = 0.69314718055994530942;
constexpr double kLog2E = 1.44269504088896340736;
constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
constexpr double kOneOverSqrt2 = 0.70710678118654752440;
constexpr double kOneOverSqrt2Pi = 0.39894228040143267794;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;

/// Operand, result and cotangent in the compute type, cast at the first use.
class Unary : public RuleBuilder {
public:
  Unary(Rule &rule, Value input, Value result)
      : RuleBuilder(rule), input(input), result(result), given(rule.cotangent) {}
  Value x() { return widened(input); }
  Value y() { return widened(result); }
  Value g() { return widened(given); }
  /// The result in the compute type, before it is rounded to a narrower one.
  template <typename OpT> Value exactY() { return widen(result) == result ? result : unary<OpT>(x()); }

private:
  Value widened(Value &value) { return value = widen(value); }
  Value input, result, given;
};
} // namespace

template <typename OpT, Value (*derivative)(Unary &)> static LogicalResult unaryRule(OpT op, Rule &rule) {
  Unary values(rule, op->getOperand(0), op->getResult(0));
  if (rule.wants(0))
    rule.give(0, derivative(values));
  return success();
}

// Nothing rounds here, so nothing is widened.
template <typename OpT> static LogicalResult negRule(OpT, Rule &rule) {
  if (rule.wants(0))
    rule.give(0, rule.neg(rule.cotangent));
  return success();
}
static LogicalResult reluRule(ReluOp op, Rule &rule) {
  if (rule.wants(0))
    rule.give(0, rule.onlyWhere(rule.compare(ComparePredicate::gt, op.getInput(), 0.0), rule.cotangent));
  return success();
}

//===- Powers, exponentials and logarithms -===//

static Value absRule(Unary &v) { return v.mul(v.g(), v.unary<SignOp>(v.x())); }
static Value expRule(Unary &v) { return timesExponential<ExpOp>(v, v.g(), v.x()); }
static Value exp2Rule(Unary &v) { return timesExponential<Exp2Op>(v, v.g(), v.x(), kLn2); }
static Value logRule(Unary &v) { return v.div(v.g(), v.x()); }
static Value log2Rule(Unary &v) { return v.mul(v.div(v.g(), v.x()), kLog2E); }
static Value log1pRule(Unary &v) { return v.div(v.g(), v.add(v.x(), 1.0)); }
static Value sqrtRule(Unary &v) { return v.div(v.g(), v.mul(v.exactY<SqrtOp>(), 2.0)); }
// The third power of y leaves the range of the type.
static Value rsqrtRule(Unary &v) {
  Value y = v.exactY<RsqrtOp>();
  ByMagnitude parts(v, y, 3.0);
  Value cube = v.mul(v.mul(v.square(parts.moderate), parts.moderate), -0.5);
  Value product = v.mul(v.mul(v.g(), v.mul(cube, parts.far)), parts.far);
  return v.mul(product, parts.far);
}
// -g / x², not -g y²: y = 1 / x overflows where x is subnormal, and loses digits where x is so large that y
// is subnormal.
static Value recipRule(Unary &v) {
  ByMagnitude parts(v, v.x(), 2.0);
  Value divisor = v.mul(v.square(parts.moderate), parts.far);
  return v.neg(v.div(v.div(v.g(), divisor), parts.far));
}

//===- Trigonometric functions and erf -===//

static Value sinRule(Unary &v) { return v.mul(v.g(), v.unary<CosOp>(v.x())); }
static Value cosRule(Unary &v) { return v.neg(v.mul(v.g(), v.unary<SinOp>(v.x()))); }
static Value tanRule(Unary &v) { return v.mul(v.g(), v.add(v.square(v.exactY<TanOp>()), 1.0)); }
static Value tanhRule(Unary &v) { return v.mul(v.g(), v.sub(1.0, v.square(v.y()))); }

// x^2 - square, the rounding error of the square, from two halves of x whose products are exact (Dekker).
static Value errorOfSquare(Unary &v, Value x, Value square) {
  Value scaled = v.mul(x, v.ofType(x, 0x1p12 + 1, 0x1p27 + 1));
  Value high = v.sub(scaled, v.sub(scaled, x)), low = v.sub(x, high);
  Value error = v.add(v.sub(v.square(high), square), v.mul(v.mul(high, 2.0), low));
  return v.add(error, v.square(low));
}

// e^(-x^2) as the square of h = e^(-x^2/2), which is a normal number until the last product vanishes. One of
// the two factors takes the rounding error of x^2 back.
static Value erfRule(Unary &v) {
  double farthest = v.ofType(v.x(), 14.0, 39.0);
  Value x = v.clamp(v.x(), -farthest, farthest), square = v.square(x);
  Value error = errorOfSquare(v, x, square), root = v.exp(v.mul(square, -0.5));
  Value corrected = v.mul(v.mul(root, kTwoOverSqrtPi), v.sub(1.0, error));
  return v.mul(v.mul(v.g(), root), corrected);
}

//===- Activations -===//

namespace {
/// The logistic function s = 1 / (1 + e^-x), from h = e^(-|x|/2) and w = 1 + h^2: s is 1 / w for x >= 0, else
/// h^2 / w. Products with s take the factors h apart: h^2 leaves the range of the type before they do.
struct Logistic {
  /// Selects instead of |x|: the derivative of h at 0 is that for x >= 0.
  Logistic(Unary &v, Value x) : v(v), isNegative(v.compare(ComparePredicate::lt, x, 0.0)) {
    h = v.exp(v.mul(v.select(isNegative, x, v.neg(x)), 0.5));
    w = v.add(v.square(h), 1.0);
  }
  /// h where x < 0, else 1: s = left^2 / w.
  Value left() { return v.select(isNegative, h, v.number(h, 1.0)); }
  /// 1 where x < 0, else h: 1 - s = right^2 / w.
  Value right() { return v.select(isNegative, v.number(h, 1.0), h); }

  Unary &v;
  Value isNegative, h, w;
};
} // namespace

static Value sigmoidRule(Unary &v) {
  Logistic s(v, v.x());
  Value root = v.div(s.h, s.w);
  return v.mul(v.mul(v.g(), root), root);
}
static Value softplusRule(Unary &v) {
  Logistic s(v, v.x());
  Value left = s.left();
  return v.mul(v.mul(v.g(), v.div(left, s.w)), left);
}
// Beyond the clamp the slope is 1, and every product with it 0 on the left.
static Value siluRule(Unary &v) {
  double farthest = v.ofType(v.x(), 200.0, 1500.0);
  Value x = v.clamp(v.x(), -farthest, farthest);
  Logistic s(v, x);
  Value left = s.left(), right = s.right(), inverse = v.unary<RecipOp>(s.w);
  Value bend = v.add(v.mul(v.mul(v.mul(x, right), inverse), right), 1.0);
  return v.mul(v.mul(v.mul(v.g(), v.mul(left, inverse)), bend), left);
}

// Phi(x) + x * phi(x), the normal distribution and its density. At the clamp the density is 0.
static Value exactGeluSlope(Unary &v) {
  Value x = v.clamp(v.x(), -40.0, 40.0);
  Value distribution = v.mul(v.add(v.unary<ErfOp>(v.mul(x, kOneOverSqrt2)), 1.0), 0.5);
  Value density = v.mul(v.exp(v.mul(v.square(x), -0.5)), kOneOverSqrt2Pi);
  return v.add(distribution, v.mul(x, density));
}

// With u = c * (x + k x^3) and t = tanh(u): (1 + t) / 2 + x / 2 * (1 - t^2) * c * (1 + 3 k x^2). At the clamp
// t is 1 or -1.
static Value tanhGeluSlope(Unary &v) {
  Value x = v.clamp(v.x(), -16.0, 16.0), square = v.square(x);
  Value inner = v.mul(v.mul(x, v.add(v.mul(square, kGeluCubic), 1.0)), kSqrt2OverPi);
  Value t = v.unary<TanhOp>(inner);
  Value innerSlope = v.mul(v.add(v.mul(square, 3 * kGeluCubic), 1.0), kSqrt2OverPi);
  Value bell = v.mul(v.mul(v.mul(x, 0.5), v.sub(1.0, v.square(t))), innerSlope);
  return v.add(v.mul(v.add(t, 1.0), 0.5), bell);
}

static LogicalResult geluRule(GeluOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Unary values(rule, op.getInput(), op.getResult());
  Value slope = op.getForm() == GeluForm::tanh ? tanhGeluSlope(values) : exactGeluSlope(values);
  rule.give(0, values.mul(values.g(), slope));
  return success();
}

//===- Scalars and vectors -===//

static Value exactGeluRule(Unary &v) { return v.mul(v.g(), exactGeluSlope(v)); }
static Value tanhGeluRule(Unary &v) { return v.mul(v.g(), tanhGeluSlope(v)); }

static Value (*derivativeOf(numerics::Elementary function))(Unary &) {
  using F = numerics::Elementary;
  static const llvm::SmallDenseMap<F, Value (*)(Unary &), 32> derivatives = {
      {F::Exp, expRule},          {F::Exp2, exp2Rule}, {F::Expm1, expRule},
      {F::Log, logRule},          {F::Log2, log2Rule}, {F::Log1p, log1pRule},
      {F::Sin, sinRule},          {F::Cos, cosRule},   {F::Tan, tanRule},
      {F::Tanh, tanhRule},        {F::Sqrt, sqrtRule}, {F::Rsqrt, rsqrtRule},
      {F::Recip, recipRule},      {F::Erf, erfRule},   {F::Sigmoid, sigmoidRule},
      {F::Gelu, exactGeluRule},   {F::Silu, siluRule}, {F::Softplus, softplusRule},
      {F::GeluTanh, tanhGeluRule}};
  return derivatives.lookup(function);
}

LogicalResult ad::unaryElementaryRule(ElementaryOp op, Rule &rule) {
  Value (*derivative)(Unary &) = derivativeOf(op.getFunction());
  if (!derivative)
    return op.emitOpError("has no derivative rule for its function");
  Unary values(rule, op->getOperand(0), op.getResult());
  if (rule.wants(0))
    rule.give(0, derivative(values));
  return success();
}

void ad::attachArithUnaryRules(MLIRContext *context) {
  attachRule<arith::NegFOp, negRule<arith::NegFOp>>(context);
  attachCastRules<arith::ExtFOp, arith::TruncFOp>(context);
  attachZeroRules<arith::FPToSIOp, arith::FPToUIOp>(context);
}

void ad::attachMathUnaryRules(MLIRContext *context) {
  attachRule<math::AbsFOp, unaryRule<math::AbsFOp, absRule>>(context);
  attachRule<math::ExpOp, unaryRule<math::ExpOp, expRule>>(context);
  attachRule<math::Exp2Op, unaryRule<math::Exp2Op, exp2Rule>>(context);
  attachRule<math::ExpM1Op, unaryRule<math::ExpM1Op, expRule>>(context);
  attachRule<math::LogOp, unaryRule<math::LogOp, logRule>>(context);
  attachRule<math::Log2Op, unaryRule<math::Log2Op, log2Rule>>(context);
  attachRule<math::Log1pOp, unaryRule<math::Log1pOp, log1pRule>>(context);
  attachRule<math::SqrtOp, unaryRule<math::SqrtOp, sqrtRule>>(context);
  attachRule<math::RsqrtOp, unaryRule<math::RsqrtOp, rsqrtRule>>(context);
  attachRule<math::SinOp, unaryRule<math::SinOp, sinRule>>(context);
  attachRule<math::CosOp, unaryRule<math::CosOp, cosRule>>(context);
  attachRule<math::TanOp, unaryRule<math::TanOp, tanRule>>(context);
  attachRule<math::TanhOp, unaryRule<math::TanhOp, tanhRule>>(context);
  attachRule<math::ErfOp, unaryRule<math::ErfOp, erfRule>>(context);
  attachZeroRules<math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp, math::TruncOp>(context);
}

//===- Registration -===//

void ad::attachUnaryRules(MLIRContext *context) {
  attachRule<AbsOp, unaryRule<AbsOp, absRule>>(context);
  attachRule<NegOp, negRule<NegOp>>(context);
  attachRule<ExpOp, unaryRule<ExpOp, expRule>>(context);
  attachRule<Exp2Op, unaryRule<Exp2Op, exp2Rule>>(context);
  attachRule<Expm1Op, unaryRule<Expm1Op, expRule>>(context);
  attachRule<LogOp, unaryRule<LogOp, logRule>>(context);
  attachRule<Log2Op, unaryRule<Log2Op, log2Rule>>(context);
  attachRule<Log1pOp, unaryRule<Log1pOp, log1pRule>>(context);
  attachRule<SqrtOp, unaryRule<SqrtOp, sqrtRule>>(context);
  attachRule<RsqrtOp, unaryRule<RsqrtOp, rsqrtRule>>(context);
  attachRule<RecipOp, unaryRule<RecipOp, recipRule>>(context);
  attachRule<SinOp, unaryRule<SinOp, sinRule>>(context);
  attachRule<CosOp, unaryRule<CosOp, cosRule>>(context);
  attachRule<TanOp, unaryRule<TanOp, tanRule>>(context);
  attachRule<TanhOp, unaryRule<TanhOp, tanhRule>>(context);
  attachRule<ErfOp, unaryRule<ErfOp, erfRule>>(context);
  attachRule<SigmoidOp, unaryRule<SigmoidOp, sigmoidRule>>(context);
  attachRule<ReluOp, reluRule>(context);
  attachRule<SoftplusOp, unaryRule<SoftplusOp, softplusRule>>(context);
  attachRule<SiluOp, unaryRule<SiluOp, siluRule>>(context);
  attachRule<GeluOp, geluRule>(context);
  attachCastRules<CastOp, ConvertOp>(context);
  attachZeroRules<SignOp, FloorOp, CeilOp, RoundEvenOp, NotOp, IsFiniteOp, BitcastOp>(context);
}
