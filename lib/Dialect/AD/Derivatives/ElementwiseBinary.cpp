// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of elementwise operations with two or three operands. `Rule::giveSummed` sums each
// cotangent to the shape of its operand, which may have been broadcast.

#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ADRandomOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
static Value divRhs(Binary &v) { return v.neg(v.div(v.mul(v.g(), v.z()), v.y())); }

// The truncated quotient is (x - z) / y up to rounding errors of that formula, which the rounding to an
// integer removes.
static Value remRhs(Binary &v) {
  Value quotient = v.unary<RoundEvenOp>(v.div(v.sub(v.x(), v.z()), v.y()));
  return v.neg(v.mul(v.g(), quotient));
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

// x^0 is constant also at x = 0, where 0 * 0^-1 would be NaN.
static Value powLhs(Binary &v) {
  Value slope = v.mul(v.y(), v.binary<PowOp>(v.x(), v.add(v.y(), -1.0)));
  Value constant = v.compare(ComparePredicate::eq, v.y(), 0.0);
  return v.mul(v.g(), v.select(constant, v.number(slope, 0.0), slope));
}
static Value powRhs(Binary &v) {
  Value zeroBase = v.compare(ComparePredicate::eq, v.x(), 0.0);
  // The logarithm of 1 instead of 0: an infinity must not meet a zero cotangent when this rule is
  // differentiated.
  Value logarithm = v.unary<LogOp>(v.select(zeroBase, v.number(v.x(), 1.0), v.x()));
  Value slope = v.mul(v.z(), logarithm);
  return v.mul(v.g(), v.select(zeroBase, v.number(slope, 0.0), slope));
}

// g times an operand over the sum of both squares. The squares would leave the range of the type long before
// the quotient does, so that the ratio of the operands, which is at most 1, replaces them.
static Value atan2Share(Binary &v, Value numerator, Value other) {
  Value isLarger = v.compare(ComparePredicate::ge, v.unary<AbsOp>(numerator), v.unary<AbsOp>(other));
  Value larger = v.select(isLarger, numerator, other), smaller = v.select(isLarger, other, numerator);
  Value ratio = v.div(smaller, larger);
  Value share = v.select(isLarger, v.number(ratio, 1.0), ratio);
  return v.mul(v.g(), v.div(share, v.add(larger, v.mul(smaller, ratio))));
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
  attachZeroRules<AndOp, OrOp, XorOp, CompareOp, RngBitsOp, RngUniformOp, RngNormalOp>(context);
}
