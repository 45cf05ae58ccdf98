// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Host code: integers and indices.

#include "ScalarValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

static constexpr unsigned kMaxWidth = 64;

/// 0 for other types.
static unsigned widthOf(Type type) {
  if (isa<IndexType>(type))
    return kMaxWidth;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() <= kMaxWidth ? integer.getWidth() : 0;
}

bool mlir::ad::reference::isScalarCode(Operation *op) {
  return llvm::all_of(llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()), [](Type type) {
    return !isa<ShapedType>(type) && (widthOf(type) || elementTypeOf(type));
  });
}

int32_t mlir::ad::reference::refuseTensors(Operation *op, Frame &frame) {
  return frame.refuse(op, "runs in the reference interpreter on scalars of known types only");
}

uint64_t mlir::ad::reference::bitsOf(const Tensor &scalar) {
  uint64_t bits = 0;
  std::memcpy(&bits, scalar.bytes(), sizeInBytes(scalar.getType()));
  return bits;
}

Tensor mlir::ad::reference::withBits(ElementType type, uint64_t bits) {
  Tensor result(type, {});
  std::memcpy(result.bytes(), &bits, sizeInBytes(type));
  return result;
}

APInt mlir::ad::reference::integerOf(const Tensor &scalar, Type type) {
  return APInt(widthOf(type), bitsOf(scalar), /*isSigned=*/false, /*implicitTrunc=*/true);
}

static ElementType storageOf(unsigned width) {
  return width == 1    ? ElementType::I1
         : width <= 8  ? ElementType::I8
         : width <= 32 ? ElementType::I32
                       : ElementType::I64;
}

std::optional<Tensor> mlir::ad::reference::scalarOf(const APInt &number, Type type) {
  unsigned width = widthOf(type);
  if (width == 0 || number.getBitWidth() != width)
    return std::nullopt;
  return withBits(storageOf(width), number.getZExtValue());
}

APInt mlir::ad::reference::integerOf(Frame &frame, Value value) {
  return integerOf(frame[value], value.getType());
}

int32_t mlir::ad::reference::setInteger(Frame &frame, Value value, const APInt &number) {
  return frame.set(value, *scalarOf(number.sextOrTrunc(widthOf(value.getType())), value.getType()));
}

using Function = APInt (*)(const APInt &, const APInt &);

template <class OpT> static void add(Semantics &semantics, Function function) {
  semantics.addGeneric<OpT>([function](Operation *op, Frame &frame) {
    if (!isScalarCode(op))
      return refuseTensors(op, frame);
    return setInteger(frame, op->getResult(0),
                      function(integerOf(frame, op->getOperand(0)), integerOf(frame, op->getOperand(1))));
  });
}

/// The same if the second operand may not be 0. In a kernel nothing fails, and such a quotient is that by 1.
template <class OpT> static void addDivision(Semantics &semantics, Function function) {
  semantics.addGeneric<OpT>([function](Operation *op, Frame &frame) {
    if (!isScalarCode(op))
      return refuseTensors(op, frame);
    APInt divisor = integerOf(frame, op->getOperand(1));
    if (divisor.isZero() && !isInKernel(op))
      return frame.fail(op, ADRT_FAIL_DIVISION, {});
    if (divisor.isZero())
      divisor = 1;
    return setInteger(frame, op->getResult(0), function(integerOf(frame, op->getOperand(0)), divisor));
  });
}

/// The low and the high half of the result of f on numbers of twice the width.
template <class OpT>
static void addExtended(Semantics &semantics, APInt (APInt::*extend)(unsigned) const, Function function) {
  semantics.addGeneric<OpT>([extend, function](Operation *op, Frame &frame) {
    if (!isScalarCode(op))
      return refuseTensors(op, frame);
    APInt lhs = integerOf(frame, op->getOperand(0)), rhs = integerOf(frame, op->getOperand(1));
    unsigned width = lhs.getBitWidth();
    APInt both = function((lhs.*extend)(2 * width), (rhs.*extend)(2 * width));
    setInteger(frame, op->getResult(0), both.trunc(width));
    return setInteger(frame, op->getResult(1), both.lshr(width).trunc(width));
  });
}

using A = const APInt &;

/// MIN / -1 is MIN: all quotients wrap.
static APInt floorDivide(A a, A b) {
  bool isBelow = !a.srem(b).isZero() && a.isNegative() != b.isNegative();
  return a.sdiv(b) - isBelow;
}
static APInt ceilDivide(A a, A b) {
  bool isAbove = !a.srem(b).isZero() && a.isNegative() == b.isNegative();
  return a.sdiv(b) + isAbove;
}

static void registerShifts(Semantics &semantics) {
  add<arith::ShLIOp>(semantics, [](A a, A b) { return b.uge(a.getBitWidth()) ? a - a : a.shl(b); });
  add<arith::ShRUIOp>(semantics, [](A a, A b) { return b.uge(a.getBitWidth()) ? a - a : a.lshr(b); });
  add<arith::ShRSIOp>(semantics, [](A a, A b) {
    return a.ashr(b.getLimitedValue(a.getBitWidth() - 1)); // copies of the sign
  });
}

static void registerDivisions(Semantics &semantics) {
  addDivision<arith::DivSIOp>(semantics, [](A a, A b) { return a.sdiv(b); });
  addDivision<arith::RemSIOp>(semantics, [](A a, A b) { return a.srem(b); });
  addDivision<arith::DivUIOp>(semantics, [](A a, A b) { return a.udiv(b); });
  addDivision<arith::RemUIOp>(semantics, [](A a, A b) { return a.urem(b); });
  addDivision<arith::FloorDivSIOp>(semantics, floorDivide);
  addDivision<arith::CeilDivSIOp>(semantics, ceilDivide);
  addDivision<arith::CeilDivUIOp>(semantics, [](A a, A b) { return a.udiv(b) + !a.urem(b).isZero(); });
}

static int32_t runCmpI(arith::CmpIOp op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  bool holds = arith::applyCmpPredicate(op.getPredicate(), integerOf(frame, op.getLhs()),
                                        integerOf(frame, op.getRhs()));
  return setInteger(frame, op.getResult(), APInt(1, holds));
}

/// Conversions of integers: sign or zero extended, then truncated.
template <class OpT, bool isSigned> static int32_t runExtend(OpT op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  APInt number = integerOf(frame, op->getOperand(0));
  return setInteger(frame, op->getResult(0), isSigned ? number.sext(kMaxWidth) : number.zext(kMaxWidth));
}

void mlir::ad::reference::registerScalarIntegers(Semantics &semantics) {
  add<arith::AddIOp>(semantics, [](A a, A b) { return a + b; });
  add<arith::SubIOp>(semantics, [](A a, A b) { return a - b; });
  add<arith::MulIOp>(semantics, [](A a, A b) { return a * b; });
  add<arith::AndIOp>(semantics, [](A a, A b) { return a & b; });
  add<arith::OrIOp>(semantics, [](A a, A b) { return a | b; });
  add<arith::XOrIOp>(semantics, [](A a, A b) { return a ^ b; });
  add<arith::MinSIOp>(semantics, [](A a, A b) { return a.slt(b) ? a : b; });
  add<arith::MaxSIOp>(semantics, [](A a, A b) { return a.sgt(b) ? a : b; });
  add<arith::MinUIOp>(semantics, [](A a, A b) { return a.ult(b) ? a : b; });
  add<arith::MaxUIOp>(semantics, [](A a, A b) { return a.ugt(b) ? a : b; });
  addExtended<arith::AddUIExtendedOp>(semantics, &APInt::zext, [](A a, A b) { return a + b; });
  addExtended<arith::MulSIExtendedOp>(semantics, &APInt::sext, [](A a, A b) { return a * b; });
  addExtended<arith::MulUIExtendedOp>(semantics, &APInt::zext, [](A a, A b) { return a * b; });
  registerShifts(semantics);
  registerDivisions(semantics);
  semantics.add(runCmpI);
  semantics.add(runExtend<arith::IndexCastOp, true>);
  semantics.add(runExtend<arith::IndexCastUIOp, false>);
  semantics.add(runExtend<arith::ExtSIOp, true>);
  semantics.add(runExtend<arith::ExtUIOp, false>);
  semantics.add(runExtend<arith::TruncIOp, false>);
}
