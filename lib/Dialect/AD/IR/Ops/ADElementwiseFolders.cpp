// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Folding of elementwise operations: identities that hold bit for bit, then evaluation of constants.
// Identities that rounding, -0 or NaN break belong to ad-simplify, under a permission.

#include "../Elementwise.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

bool ad::keepsEveryValue(Type element) { return !isa<Float8E5M2Type>(element); }

bool ad::holdsExactly(Type from, Type to) {
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  unsigned fromWidth = from.getIntOrFloatBitWidth(), toWidth = to.getIntOrFloatBitWidth();
  if (fromFloat && toFloat) {
    const llvm::fltSemantics &narrow = fromFloat.getFloatSemantics(), &wide = toFloat.getFloatSemantics();
    return APFloat::semanticsPrecision(narrow) <= APFloat::semanticsPrecision(wide) &&
           APFloat::semanticsMaxExponent(narrow) <= APFloat::semanticsMaxExponent(wide) &&
           APFloat::semanticsMinExponent(narrow) >= APFloat::semanticsMinExponent(wide);
  }
  if (fromFloat)
    return false;
  if (!toFloat)
    return fromWidth <= toWidth;
  // The smallest integer is a power of two, all others have one digit less.
  return fromWidth == 1 || fromWidth - 1 <= APFloat::semanticsPrecision(toFloat.getFloatSemantics());
}

//===- Helpers -===//

// Whether the result has the type and, at run time, the shape of `value`: no other operand repeats it.
static bool hasShapeAndTypeOf(Operation *op, Value value) {
  if (op->getResult(0).getType() != value.getType())
    return false;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (Value other : op->getOperands()) {
    auto type = cast<RankedTensorType>(other.getType());
    int64_t lead = rank - type.getRank();
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (other != value && type.getDimSize(dimension) != 1 &&
          !haveSameSize(other, dimension, value, lead + dimension))
        return false;
  }
  return true;
}

// Whether the attribute is `number` everywhere; -0 and +0 differ.
static bool isSplatOf(Attribute attribute, double number) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return false;
  if (!isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APInt>().getSExtValue() == static_cast<int64_t>(number);
  bool losesInfo = false;
  APFloat value = dense.getSplatValue<APFloat>();
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.bitwiseIsEqual(APFloat(number));
}

static bool isSplatOfOnes(Attribute attribute) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  return dense && dense.isSplat() && isa<IntegerType>(dense.getElementType()) &&
         dense.getSplatValue<APInt>().isAllOnes();
}

// An integer everywhere, as the result of an operation with a static shape.
static OpFoldResult integerSplat(Operation *op, int64_t number) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape() || !isa<IntegerType>(type.getElementType()))
    return {};
  return DenseElementsAttr::get(type, APInt(type.getElementTypeBitWidth(), static_cast<uint64_t>(number),
                                            /*isSigned=*/false, /*implicitTrunc=*/true));
}

//===- Identities -===//

template <class OpT> static OpFoldResult foldInvolution(OpT op) {
  auto inner = op.getInput().template getDefiningOp<OpT>();
  return inner ? OpFoldResult(inner.getInput()) : OpFoldResult();
}

// The operand already is a result of one of these operations, which therefore change nothing.
template <class... Inner> static OpFoldResult foldAfter(Value operand) {
  Operation *inner = operand.getDefiningOp();
  return isa_and_nonnull<Inner...>(inner) ? OpFoldResult(operand) : OpFoldResult();
}

static OpFoldResult foldCast(CastOp op) {
  if (op.getInput().getType() == op.getType())
    return op.getInput();
  auto inner = op.getInput().getDefiningOp<CastOp>();
  if (inner && inner.getInput().getType() == op.getType() && holdsExactly(elementOf(op), elementOf(inner)) &&
      keepsEveryValue(elementOf(op)))
    return inner.getInput();
  return {};
}

static OpFoldResult foldUnary(Operation *op) {
  if (!keepsEveryValue(elementOf(op->getOperand(0))))
    return {};
  return llvm::TypeSwitch<Operation *, OpFoldResult>(op)
      .Case([](NegOp neg) { return foldInvolution(neg); })
      .Case([](NotOp negation) { return foldInvolution(negation); })
      .Case([](AbsOp abs) { return foldAfter<AbsOp>(abs.getInput()); })
      .Case([](SignOp sign) { return foldAfter<SignOp>(sign.getInput()); })
      .Case([](ReluOp relu) { return foldAfter<ReluOp>(relu.getInput()); })
      .Case<FloorOp, CeilOp, RoundEvenOp>(
          [](auto round) { return foldAfter<FloorOp, CeilOp, RoundEvenOp, SignOp>(round.getInput()); })
      .Default([](Operation *) { return OpFoldResult(); });
}

static OpFoldResult operandIf(bool condition, Operation *op, Value operand) {
  return condition && hasShapeAndTypeOf(op, operand) ? OpFoldResult(operand) : OpFoldResult();
}

// x + -0, x - 0, x * 1, x / 1; for integers also x + 0, x - x, x * 0, x shifted by 0.
static OpFoldResult foldArithmetic(Operation *op, Attribute rhs) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  bool integer = isa<IntegerType>(elementOf(x));
  return llvm::TypeSwitch<Operation *, OpFoldResult>(op)
      .Case([&](AddOp) { return operandIf(isSplatOf(rhs, integer ? 0.0 : -0.0), op, x); })
      .Case([&](SubOp) {
        return integer && x == y ? integerSplat(op, 0) : operandIf(isSplatOf(rhs, 0.0), op, x);
      })
      .Case([&](MulOp) {
        return integer && isSplatOf(rhs, 0.0) ? integerSplat(op, 0) : operandIf(isSplatOf(rhs, 1.0), op, x);
      })
      .Case([&](DivOp) { return operandIf(isSplatOf(rhs, 1.0), op, x); })
      .Case<MaxOp, MinOp>([&](auto) { return operandIf(x == y, op, x); })
      .Case<ShiftLeftOp, ShiftRightOp, ShiftRightLogicalOp>(
          [&](auto) { return operandIf(isSplatOf(rhs, 0.0), op, x); })
      .Default([](Operation *) { return OpFoldResult(); });
}

static OpFoldResult foldLogical(Operation *op, Attribute rhs) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  bool zero = isSplatOf(rhs, 0.0), ones = isSplatOfOnes(rhs);
  return llvm::TypeSwitch<Operation *, OpFoldResult>(op)
      .Case([&](AndOp) { return zero ? integerSplat(op, 0) : operandIf(x == y || ones, op, x); })
      .Case([&](OrOp) { return ones ? integerSplat(op, -1) : operandIf(x == y || zero, op, x); })
      .Case([&](XorOp) { return x == y ? integerSplat(op, 0) : operandIf(zero, op, x); })
      .Default([](Operation *) { return OpFoldResult(); });
}

// A value against itself: NaN makes eq, ne, le and ge of floats depend on the value.
static OpFoldResult foldCompare(CompareOp op) {
  if (op.getLhs() != op.getRhs())
    return {};
  switch (op.getPredicate()) {
  case ComparePredicate::lt:
  case ComparePredicate::gt:
    return integerSplat(op, 0);
  case ComparePredicate::ne:
    return isa<IntegerType>(elementOf(op.getLhs())) ? integerSplat(op, 0) : OpFoldResult();
  default:
    return isa<IntegerType>(elementOf(op.getLhs())) ? integerSplat(op, 1) : OpFoldResult();
  }
}

static OpFoldResult foldSelect(SelectOp op, ArrayRef<Attribute> operands) {
  if (op.getOnTrue() == op.getOnFalse() || isSplatOfOnes(operands[0]))
    return operandIf(true, op, op.getOnTrue());
  if (isSplatOf(operands[0], 0.0))
    return operandIf(true, op, op.getOnFalse());
  if (elementOf(op).isInteger(1) && isSplatOfOnes(operands[1]) && isSplatOf(operands[2], 0.0))
    return operandIf(true, op, op.getCondition());
  return {};
}

static OpFoldResult foldIdentity(Operation *op, ArrayRef<Attribute> operands) {
  if (auto cast = dyn_cast<CastOp>(op))
    return foldCast(cast);
  if (auto compare = dyn_cast<CompareOp>(op))
    return foldCompare(compare);
  if (auto select = dyn_cast<SelectOp>(op))
    return foldSelect(select, operands);
  if (op->getNumOperands() == 1)
    return foldUnary(op);
  if (op->getNumOperands() != 2 || !keepsEveryValue(elementOf(op->getOperand(0))))
    return {};
  if (isa<AndOp, OrOp, XorOp>(op))
    return foldLogical(op, operands[1]);
  return foldArithmetic(op, operands[1]);
}

OpFoldResult ad::foldElementwise(Operation *op, ArrayRef<Attribute> operands) {
  if (OpFoldResult result = foldIdentity(op, operands))
    return result;
  return evaluateElementwise(op, operands);
}
