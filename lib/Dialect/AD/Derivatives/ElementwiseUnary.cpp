// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of elementwise operations with one operand. A rule computes in the operation's compute
// type (f32 for 16- and 8-bit floats) and rounds once at its end, as the operation itself does.

#include "Rules.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad;

namespace {
constexpr double kLn2 = 0.69314718055994530942;
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

private:
  Value widened(Value &value) { return value = widen(value); }
  Value input, result, given;
};
} // namespace

template <typename OpT, Value (*derivative)(Unary &)> static LogicalResult unaryRule(OpT op, Rule &rule) {
  Unary values(rule, op.getInput(), op.getResult());
  if (rule.wants(0))
    rule.give(0, derivative(values));
  return success();
}

// Nothing rounds here, so nothing is widened.
static LogicalResult negRule(NegOp op, Rule &rule) {
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
static Value expRule(Unary &v) { return v.mul(v.g(), v.y()); }
static Value exp2Rule(Unary &v) { return v.mul(v.g(), v.mul(v.y(), kLn2)); }
static Value expm1Rule(Unary &v) { return v.mul(v.g(), v.add(v.y(), 1.0)); }
static Value logRule(Unary &v) { return v.div(v.g(), v.x()); }
static Value log2Rule(Unary &v) { return v.div(v.g(), v.mul(v.x(), kLn2)); }
static Value log1pRule(Unary &v) { return v.div(v.g(), v.add(v.x(), 1.0)); }
static Value sqrtRule(Unary &v) { return v.div(v.g(), v.mul(v.y(), 2.0)); }
static Value rsqrtRule(Unary &v) { return v.mul(v.g(), v.mul(v.mul(v.square(v.y()), v.y()), -0.5)); }
static Value recipRule(Unary &v) { return v.neg(v.mul(v.g(), v.square(v.y()))); }

//===- Trigonometric functions and erf -===//

static Value sinRule(Unary &v) { return v.mul(v.g(), v.unary<CosOp>(v.x())); }
static Value cosRule(Unary &v) { return v.neg(v.mul(v.g(), v.unary<SinOp>(v.x()))); }
static Value tanRule(Unary &v) { return v.mul(v.g(), v.add(v.square(v.y()), 1.0)); }
static Value tanhRule(Unary &v) { return v.mul(v.g(), v.sub(1.0, v.square(v.y()))); }
static Value erfRule(Unary &v) { return v.mul(v.g(), v.mul(v.exp(v.neg(v.square(v.x()))), kTwoOverSqrtPi)); }

//===- Activations -===//

static Value sigmoidRule(Unary &v) { return v.mul(v.g(), v.mul(v.y(), v.sub(1.0, v.y()))); }
static Value softplusRule(Unary &v) { return v.mul(v.g(), v.unary<SigmoidOp>(v.x())); }
static Value siluRule(Unary &v) {
  Value s = v.unary<SigmoidOp>(v.x());
  return v.mul(v.g(), v.mul(s, v.add(v.mul(v.x(), v.sub(1.0, s)), 1.0)));
}

// Phi(x) + x * phi(x), the normal distribution and its density.
static Value exactGeluSlope(Unary &v) {
  Value distribution = v.mul(v.add(v.unary<ErfOp>(v.mul(v.x(), kOneOverSqrt2)), 1.0), 0.5);
  Value density = v.mul(v.exp(v.mul(v.square(v.x()), -0.5)), kOneOverSqrt2Pi);
  return v.add(distribution, v.mul(v.x(), density));
}

// With u = c * (x + k x^3) and t = tanh(u): (1 + t) / 2 + x / 2 * (1 - t^2) * c * (1 + 3 k x^2).
static Value tanhGeluSlope(Unary &v) {
  Value square = v.square(v.x());
  Value inner = v.mul(v.mul(v.x(), v.add(v.mul(square, kGeluCubic), 1.0)), kSqrt2OverPi);
  Value t = v.unary<TanhOp>(inner);
  Value innerSlope = v.mul(v.add(v.mul(square, 3 * kGeluCubic), 1.0), kSqrt2OverPi);
  Value bell = v.mul(v.mul(v.mul(v.x(), 0.5), v.sub(1.0, v.square(t))), innerSlope);
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

// Between floats the cotangent is cast back; an integer on either side carries no derivative.
namespace {
struct CastModel : DifferentiableOpInterface::ExternalModel<CastModel, CastOp> {
  bool isDifferentiable(Operation *op, unsigned) const {
    return isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType())) &&
           isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  }
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    Value given;
    if (cotangents[0] && wanted[0])
      given = castTo(builder, op->getLoc(), cotangents[0], getElementTypeOrSelf(op->getOperand(0).getType()));
    operandCotangents.push_back(given);
    return success();
  }
};
} // namespace

void ad::attachUnaryRules(MLIRContext *context) {
  attachRule<AbsOp, unaryRule<AbsOp, absRule>>(context);
  attachRule<NegOp, negRule>(context);
  attachRule<ExpOp, unaryRule<ExpOp, expRule>>(context);
  attachRule<Exp2Op, unaryRule<Exp2Op, exp2Rule>>(context);
  attachRule<Expm1Op, unaryRule<Expm1Op, expm1Rule>>(context);
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
  CastOp::attachInterface<CastModel>(*context);
  attachZeroRules<SignOp, FloorOp, CeilOp, RoundEvenOp, NotOp, IsFiniteOp>(context);
}
