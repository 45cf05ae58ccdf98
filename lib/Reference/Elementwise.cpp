// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations: operands broadcast together, values of 16- and 8-bit floats compute in f32, each
// operation rounds once. Elementary functions are in ElementwiseInterface.cpp.

#include "Interpreter.h"
#include "Movement.h"
#include "Scalars/Arithmetic.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Numerics/MLIRElementType.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

//===- Operands and results --------------------------------------------===//

/// The run-time broadcast of all operands; the size 1 yields, also to 0.
static int32_t broadcastShape(Operation *op, Frame &frame, Shape &shape) {
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> sizes = frame[operand].getShape();
    if (sizes.size() > shape.size())
      shape.insert(shape.begin(), sizes.size() - shape.size(), 1);
    size_t leading = shape.size() - sizes.size();
    for (auto [axis, size] : llvm::enumerate(sizes)) {
      int64_t &common = shape[leading + axis];
      if (common == 1)
        common = size;
      else if (size != 1 && size != common)
        return frame.fail(op, ADRT_FAIL_BROADCAST, {static_cast<int64_t>(leading + axis), common, size});
    }
  }
  return frame.checkMemory(op, ElementType::F64, shape);
}

int32_t mlir::ad::reference::broadcastOperands(Operation *op, Frame &frame,
                                               SmallVectorImpl<Tensor> &operands) {
  Shape shape;
  if (int32_t status = broadcastShape(op, frame, shape))
    return status;
  for (Value operand : op->getOperands())
    operands.push_back(broadcastTo(frame[operand], shape));
  return ADRT_OK;
}

/// The same in the types in which the operation computes.
static int32_t computeOperands(Operation *op, Frame &frame, SmallVectorImpl<Tensor> &operands) {
  if (int32_t status = broadcastOperands(op, frame, operands))
    return status;
  for (Tensor &operand : operands)
    operand = widen(operand);
  return ADRT_OK;
}

/// The one rounding of the operation.
static int32_t setRounded(Operation *op, Frame &frame, const Tensor &computed) {
  Value result = op->getResult(0);
  return frame.set(result, convert(computed, *elementTypeOf(result.getType())));
}

//===- Forms of operations ---------------------------------------------===//

/// f(x), f(x, y) or f(x, y, z) of numbers; F is a generic function object.
template <class OpT, class F> static void addUnary(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    Tensor x = widen(frame[op->getOperand(0)]);
    return setRounded(op, frame, withNumber(x.getType(), [&](auto tag) { return map<decltype(tag)>(x, f); }));
  });
}

template <class OpT, class F> static void addBinary(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    SmallVector<Tensor> x;
    if (int32_t status = computeOperands(op, frame, x))
      return status;
    return setRounded(
        op, frame, withNumber(x[0].getType(), [&](auto tag) { return map<decltype(tag)>(x[0], x[1], f); }));
  });
}

template <class OpT, class F> static void addTernary(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    SmallVector<Tensor> x;
    if (int32_t status = computeOperands(op, frame, x))
      return status;
    return setRounded(op, frame, withNumber(x[0].getType(), [&](auto tag) {
                        return map<decltype(tag)>(x[0], x[1], x[2], f);
                      }));
  });
}

/// Functions of floats, where the body need not make sense for integers.
template <class OpT, class F> static void addFloat(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    Tensor x = widen(frame[op->getOperand(0)]);
    return setRounded(op, frame, withFloat(x.getType(), [&](auto tag) { return map<decltype(tag)>(x, f); }));
  });
}

/// Bitwise operations of two.
template <class OpT, class F> static void addLogical(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    SmallVector<Tensor> x;
    if (int32_t status = broadcastOperands(op, frame, x))
      return status;
    return setRounded(
        op, frame, withLogical(x[0].getType(), [&](auto tag) { return map<decltype(tag)>(x[0], x[1], f); }));
  });
}

//===- Operations with attributes or several types ---------------------===//

static int32_t runCast(CastOp op, Frame &frame) { return setRounded(op, frame, frame[op.getInput()]); }

static int32_t runBitcast(BitcastOp op, Frame &frame) {
  Type from = getElementTypeOrSelf(op.getInput());
  // The bits are those of the written type, also where a run keeps wider numbers.
  Tensor x = convert(frame[op.getInput()], *elementTypeOf(from));
  Tensor result(*elementTypeOf(op.getType()), x.getShape());
  int64_t size = sizeInBytes(x.getType());
  for (int64_t i = 0, n = x.getNumElements(); i < n; ++i) {
    uint64_t bits = 0; // of a little-endian machine, as all of those that are supported
    std::memcpy(&bits, x.bytes() + i * size, size);
    bits = numerics::contractBits(from, bits);
    std::memcpy(result.bytes() + i * size, &bits, size);
  }
  return frame.set(op.getResult(), result);
}

static int32_t runNot(NotOp op, Frame &frame) {
  Tensor x = frame[op.getInput()];
  return setRounded(op, frame, withLogical(x.getType(), [&](auto tag) {
                      using T = decltype(tag);
                      return map<T>(x, [](T a) {
                        if constexpr (std::is_same_v<T, bool>)
                          return !a;
                        else
                          return static_cast<T>(~a);
                      });
                    }));
}

template <class T> static bool holds(ComparePredicate predicate, T a, T b) {
  switch (predicate) {
  case ComparePredicate::eq:
    return a == b;
  case ComparePredicate::ne:
    return a != b;
  case ComparePredicate::lt:
    return a < b;
  case ComparePredicate::le:
    return a <= b;
  case ComparePredicate::gt:
    return a > b;
  case ComparePredicate::ge:
    return a >= b;
  }
  return false;
}

static int32_t runCompare(CompareOp op, Frame &frame) {
  SmallVector<Tensor> x;
  if (int32_t status = computeOperands(op, frame, x))
    return status;
  ComparePredicate predicate = op.getPredicate();
  return setRounded(op, frame, withAny(x[0].getType(), [&](auto tag) {
                      using T = decltype(tag);
                      return map<T>(x[0], x[1], [&](T a, T b) { return holds(predicate, a, b); });
                    }));
}

static int32_t runSelect(SelectOp op, Frame &frame) {
  SmallVector<Tensor> x;
  if (int32_t status = broadcastOperands(op, frame, x))
    return status;
  Tensor result(x[1].getType(), x[1].getShape());
  const bool *condition = x[0].data<bool>();
  int64_t size = sizeInBytes(result.getType());
  for (int64_t i = 0, n = result.getNumElements(); i < n; ++i)
    std::memcpy(result.bytes() + i * size, x[condition[i] ? 1 : 2].bytes() + i * size, size);
  return frame.set(op.getResult(), result);
}

//===- Table -----------------------------------------------------------===//

static void registerUnary(Semantics &semantics) {
  addUnary<AbsOp>(semantics, [](auto a) {
    if constexpr (std::is_floating_point_v<decltype(a)>)
      return std::fabs(a);
    else
      return a < 0 ? subtract(decltype(a)(0), a) : a;
  });
  addUnary<NegOp>(semantics, [](auto a) {
    if constexpr (std::is_floating_point_v<decltype(a)>)
      return -a;
    else
      return subtract(decltype(a)(0), a);
  });
  addUnary<SignOp>(semantics, [](auto a) {
    using T = decltype(a);
    return a > 0 ? T(1) : a < 0 ? T(-1) : a;
  });
  addFloat<FloorOp>(semantics, [](auto a) { return std::floor(a); });
  addFloat<CeilOp>(semantics, [](auto a) { return std::ceil(a); });
  // The entry has set rounding to nearest even.
  addFloat<RoundEvenOp>(semantics, [](auto a) { return std::nearbyint(a); });
  addFloat<ReluOp>(semantics, [](auto a) { return a < 0 ? decltype(a)(0) : a; });
  addFloat<IsFiniteOp>(semantics, [](auto a) { return static_cast<bool>(std::isfinite(a)); });
}

void mlir::ad::reference::registerElementwise(Semantics &semantics) {
  registerUnary(semantics);
  addBinary<AddOp>(semantics, [](auto a, auto b) { return add(a, b); });
  addBinary<SubOp>(semantics, [](auto a, auto b) { return subtract(a, b); });
  addBinary<MulOp>(semantics, [](auto a, auto b) { return multiply(a, b); });
  addBinary<DivOp>(semantics, [](auto a, auto b) { return divide(a, b); });
  addBinary<RemOp>(semantics, [](auto a, auto b) { return reference::remainder(a, b); });
  addBinary<MaxOp>(semantics, [](auto a, auto b) { return maximum(a, b); });
  addBinary<MinOp>(semantics, [](auto a, auto b) { return minimum(a, b); });
  addTernary<ClampOp>(semantics, [](auto a, auto low, auto high) { return minimum(maximum(a, low), high); });
  addTernary<FmaOp>(semantics, [](auto a, auto b, auto c) { return multiplyAdd(a, b, c); });
  addLogical<AndOp>(semantics, [](auto a, auto b) { return static_cast<decltype(a)>(a & b); });
  addLogical<OrOp>(semantics, [](auto a, auto b) { return static_cast<decltype(a)>(a | b); });
  addLogical<XorOp>(semantics, [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); });
  addLogical<ShiftLeftOp>(semantics, [](auto a, auto b) { return shiftLeft(a, b); });
  addLogical<ShiftRightOp>(semantics, [](auto a, auto b) { return shiftRight(a, b); });
  addLogical<ShiftRightLogicalOp>(semantics, [](auto a, auto b) { return shiftRightLogical(a, b); });
  semantics.add(runCast);
  semantics.add(runBitcast);
  semantics.add(runNot);
  semantics.add(runCompare);
  semantics.add(runSelect);
}
