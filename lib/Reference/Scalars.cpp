// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Host code: scalars of index, integer and float types, and what connects them with tensors.

#include "Arithmetic.h"
#include "Interpreter.h"
#include "Movement.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Numerics/Casts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

//===- Integers as 64 bits ---------------------------------------------===//

static constexpr unsigned kMaxBits = 64;

static unsigned bitsOf(Type type) { return type.isIndex() ? kMaxBits : type.getIntOrFloatBitWidth(); }

static uint64_t zeroExtended(const Tensor &x) {
  uint64_t bits = 0;
  std::memcpy(&bits, x.bytes(), sizeInBytes(x.getType()));
  return bits;
}

APInt mlir::ad::reference::integerOf(const Tensor &scalar, Type type) {
  return APInt(bitsOf(type), zeroExtended(scalar), /*isSigned=*/false, /*implicitTrunc=*/true);
}

// Tensors have integers of few widths, scalars of all.
static std::optional<ElementType> storageOf(Type type) {
  if (!type.isInteger() || type.getIntOrFloatBitWidth() > kMaxBits)
    return elementTypeOf(type);
  unsigned bits = bitsOf(type);
  return bits == 1    ? ElementType::I1
         : bits <= 8  ? ElementType::I8
         : bits <= 32 ? ElementType::I32
                      : ElementType::I64;
}

/// The low bits of a number as a scalar of `bits` bits.
static Tensor truncated(ElementType storage, unsigned bits, uint64_t value) {
  Tensor result(storage, {});
  value &= llvm::maskTrailingOnes<uint64_t>(bits);
  std::memcpy(result.bytes(), &value, sizeInBytes(storage));
  return result;
}

std::optional<Tensor> mlir::ad::reference::scalarOf(const APInt &number, Type type) {
  std::optional<ElementType> storage = storageOf(type);
  if (!storage || number.getBitWidth() > kMaxBits)
    return std::nullopt;
  return truncated(*storage, number.getBitWidth(), number.getZExtValue());
}

static int64_t signExtended(Value value, Frame &frame) {
  return llvm::SignExtend64(zeroExtended(frame[value]), bitsOf(value.getType()));
}

static int32_t setInteger(Operation *op, Frame &frame, uint64_t value) {
  Type type = op->getResult(0).getType();
  std::optional<ElementType> storage = storageOf(type);
  if (!storage)
    return frame.refuse(op, "has a result of a type that the reference interpreter does not know");
  return frame.set(op->getResult(0), truncated(*storage, bitsOf(type), value));
}

/// Tensors travel through the table too, but arith on tensors is not host code.
static bool isScalar(Operation *op) {
  return llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
}

/// f(a, b) of sign-extended or of zero-extended operands.
template <class OpT, class F> static void addSigned(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    if (!isScalar(op))
      return frame.refuse(op, "runs in the reference interpreter on scalars only");
    int64_t a = signExtended(op->getOperand(0), frame), b = signExtended(op->getOperand(1), frame);
    return setInteger(op, frame, static_cast<uint64_t>(f(a, b)));
  });
}
template <class OpT, class F> static void addUnsigned(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    if (!isScalar(op))
      return frame.refuse(op, "runs in the reference interpreter on scalars only");
    return setInteger(op, frame,
                      f(zeroExtended(frame[op->getOperand(0)]), zeroExtended(frame[op->getOperand(1)])));
  });
}
/// The same where the second operand may not be 0.
template <class OpT, class F> static void addDivision(Semantics &semantics, F f) {
  constexpr bool isSigned = std::is_same_v<decltype(f(0, 0)), int64_t>;
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    if (!isScalar(op))
      return frame.refuse(op, "runs in the reference interpreter on scalars only");
    Value a = op->getOperand(0), b = op->getOperand(1);
    if (zeroExtended(frame[b]) == 0)
      return frame.fail(op, ADRT_FAIL_DIVISION, {});
    if constexpr (isSigned)
      return setInteger(op, frame, static_cast<uint64_t>(f(signExtended(a, frame), signExtended(b, frame))));
    else
      return setInteger(op, frame, f(zeroExtended(frame[a]), zeroExtended(frame[b])));
  });
}

static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = divide(a, b);
  return quotient - (reference::remainder(a, b) != 0 && (a < 0) != (b < 0));
}
static int64_t ceilDivide(int64_t a, int64_t b) {
  int64_t quotient = divide(a, b);
  return quotient + (reference::remainder(a, b) != 0 && (a < 0) == (b < 0));
}

static void registerIntegers(Semantics &semantics) {
  addUnsigned<arith::AddIOp>(semantics, [](uint64_t a, uint64_t b) { return a + b; });
  addUnsigned<arith::SubIOp>(semantics, [](uint64_t a, uint64_t b) { return a - b; });
  addUnsigned<arith::MulIOp>(semantics, [](uint64_t a, uint64_t b) { return a * b; });
  addUnsigned<arith::AndIOp>(semantics, [](uint64_t a, uint64_t b) { return a & b; });
  addUnsigned<arith::OrIOp>(semantics, [](uint64_t a, uint64_t b) { return a | b; });
  addUnsigned<arith::XOrIOp>(semantics, [](uint64_t a, uint64_t b) { return a ^ b; });
  addUnsigned<arith::ShLIOp>(semantics, [](uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; });
  addUnsigned<arith::ShRUIOp>(semantics, [](uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; });
  addSigned<arith::ShRSIOp>(semantics, [](int64_t a, int64_t b) { return a >> (b < 0 || b > 63 ? 63 : b); });
  addSigned<arith::MinSIOp>(semantics, [](int64_t a, int64_t b) { return minimum(a, b); });
  addSigned<arith::MaxSIOp>(semantics, [](int64_t a, int64_t b) { return maximum(a, b); });
  addUnsigned<arith::MinUIOp>(semantics, [](uint64_t a, uint64_t b) { return a < b ? a : b; });
  addUnsigned<arith::MaxUIOp>(semantics, [](uint64_t a, uint64_t b) { return a > b ? a : b; });
  addDivision<arith::DivSIOp>(semantics, divide<int64_t>);
  addDivision<arith::RemSIOp>(semantics, reference::remainder<int64_t>);
  addDivision<arith::DivUIOp>(semantics, [](uint64_t a, uint64_t b) { return a / b; });
  addDivision<arith::RemUIOp>(semantics, [](uint64_t a, uint64_t b) { return a % b; });
  addDivision<arith::FloorDivSIOp>(semantics, floorDivide);
  addDivision<arith::CeilDivSIOp>(semantics, ceilDivide);
  addDivision<arith::CeilDivUIOp>(semantics, [](uint64_t a, uint64_t b) { return a / b + (a % b != 0); });
}

//===- Floats ----------------------------------------------------------===//

/// f(x) or f(x, y) on scalars, in the type in which tensors of it would compute.
template <class OpT, class F> static void addFloat(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    std::optional<ElementType> type = elementTypeOf(op->getResult(0).getType());
    if (!type || !isScalar(op))
      return frame.refuse(op, "runs in the reference interpreter on scalars of known types only");
    Tensor x = widen(frame[op->getOperand(0)]);
    Tensor y = widen(frame[op->getOperand(op->getNumOperands() - 1)]);
    Tensor result = withFloat(x.getType(), [&](auto tag) { return map<decltype(tag)>(x, y, f); });
    return frame.set(op->getResult(0), convert(result, *type));
  });
}

static int32_t runElementary(ElementaryOp op, Frame &frame) {
  if (!isScalar(op))
    return frame.refuse(op, "runs in the reference interpreter on scalars only");
  Tensor x = frame[op.getInputs().front()], y = frame[op.getInputs().back()];
  return frame.set(op.getResult(), numerics::isBinary(op.getFunction()) ? apply(op.getFunction(), x, y)
                                                                        : apply(op.getFunction(), x));
}

static void registerFloats(Semantics &semantics) {
  addFloat<arith::AddFOp>(semantics, [](auto a, auto b) { return a + b; });
  addFloat<arith::SubFOp>(semantics, [](auto a, auto b) { return a - b; });
  addFloat<arith::MulFOp>(semantics, [](auto a, auto b) { return a * b; });
  addFloat<arith::DivFOp>(semantics, [](auto a, auto b) { return a / b; });
  addFloat<arith::RemFOp>(semantics, [](auto a, auto b) { return std::fmod(a, b); });
  addFloat<arith::NegFOp>(semantics, [](auto a, auto) { return -a; });
  addFloat<arith::MinimumFOp>(semantics, [](auto a, auto b) { return minimum(a, b); });
  addFloat<arith::MaximumFOp>(semantics, [](auto a, auto b) { return maximum(a, b); });
  addFloat<math::AbsFOp>(semantics, [](auto a, auto) { return std::fabs(a); });
  addFloat<math::FloorOp>(semantics, [](auto a, auto) { return std::floor(a); });
  addFloat<math::CeilOp>(semantics, [](auto a, auto) { return std::ceil(a); });
  // The entry has set rounding to nearest even.
  addFloat<math::RoundEvenOp>(semantics, [](auto a, auto) { return std::nearbyint(a); });
  addFloat<math::SqrtOp>(semantics, [](auto a, auto) { return std::sqrt(a); });
  semantics.add(runElementary);
}

//===- Comparison, choice, conversion ----------------------------------===//

static int32_t runCmpI(arith::CmpIOp op, Frame &frame) {
  if (!isScalar(op))
    return frame.refuse(op, "runs in the reference interpreter on scalars only");
  Type type = op.getLhs().getType();
  bool holds = arith::applyCmpPredicate(op.getPredicate(), integerOf(frame[op.getLhs()], type),
                                        integerOf(frame[op.getRhs()], type));
  return setInteger(op, frame, holds);
}

static int32_t runCmpF(arith::CmpFOp op, Frame &frame) {
  if (!isScalar(op))
    return frame.refuse(op, "runs in the reference interpreter on scalars only");
  auto number = [&](Value value) {
    const Tensor &x = frame[value];
    return APFloat(numerics::toDouble(x.getType(), zeroExtended(x)));
  };
  return setInteger(op, frame,
                    arith::applyCmpPredicate(op.getPredicate(), number(op.getLhs()), number(op.getRhs())));
}

static int32_t runSelect(arith::SelectOp op, Frame &frame) {
  if (isa<ShapedType>(op.getCondition().getType()))
    return frame.refuse(op, "runs in the reference interpreter with a scalar condition only");
  Value chosen = zeroExtended(frame[op.getCondition()]) ? op.getTrueValue() : op.getFalseValue();
  Tensor value = frame[chosen];
  return frame.set(op.getResult(), value);
}

/// Conversions of integers: widths up to 64 bits, sign or zero extended, then truncated.
template <class OpT, bool isSigned> static int32_t runExtend(OpT op, Frame &frame) {
  if (!isScalar(op))
    return frame.refuse(op, "runs in the reference interpreter on scalars only");
  Value x = op->getOperand(0);
  return setInteger(op, frame,
                    isSigned ? static_cast<uint64_t>(signExtended(x, frame)) : zeroExtended(frame[x]));
}

/// Conversions with a float on one side or both, as ad.cast makes them; but a true i1 is the signed number
/// -1.
template <class OpT> static int32_t runConvert(OpT op, Frame &frame) {
  std::optional<ElementType> type = elementTypeOf(op->getResult(0).getType());
  if (!type || !isScalar(op))
    return frame.refuse(op, "runs in the reference interpreter on scalars of known types only");
  Tensor x = frame[op->getOperand(0)];
  if (std::is_same_v<OpT, arith::SIToFPOp>)
    x = Tensor::index(signExtended(op->getOperand(0), frame));
  return frame.set(op->getResult(0), convert(x, *type));
}

static int32_t runConstant(arith::ConstantOp op, Frame &frame) {
  std::optional<ElementType> type = elementTypeOf(op.getType());
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value); type && dense)
    return frame.set(op.getResult(), Tensor::constant(*type, dense));
  if (auto integer = dyn_cast<IntegerAttr>(value))
    if (std::optional<Tensor> scalar = scalarOf(integer.getValue(), op.getType()))
      return frame.set(op.getResult(), *scalar);
  if (auto number = dyn_cast<FloatAttr>(value); type && number)
    return setInteger(op, frame, number.getValue().bitcastToAPInt().getZExtValue());
  return frame.refuse(op, "holds a value that the reference interpreter does not know");
}

static void registerConversions(Semantics &semantics) {
  semantics.add(runCmpI);
  semantics.add(runCmpF);
  semantics.add(runSelect);
  semantics.add(runConstant);
  semantics.add(runExtend<arith::IndexCastOp, true>);
  semantics.add(runExtend<arith::IndexCastUIOp, false>);
  semantics.add(runExtend<arith::ExtSIOp, true>);
  semantics.add(runExtend<arith::ExtUIOp, false>);
  semantics.add(runExtend<arith::TruncIOp, false>);
  semantics.add(runConvert<ConvertOp>);
  semantics.add(runConvert<arith::ExtFOp>);
  semantics.add(runConvert<arith::TruncFOp>);
  semantics.add(runConvert<arith::SIToFPOp>);
  semantics.add(runConvert<arith::FPToSIOp>);
}

//===- Index maps ------------------------------------------------------===//

template <class OpT, class Choose> static int32_t runAffine(OpT op, Frame &frame, Choose choose) {
  SmallVector<Attribute> operands, results;
  for (int64_t value : frame.indices(op->getOperands()))
    operands.push_back(IntegerAttr::get(IndexType::get(op->getContext()), value));
  if (failed(op.getMap().constantFold(operands, results)))
    return frame.refuse(op, "divides by zero");
  int64_t chosen = cast<IntegerAttr>(results.front()).getInt();
  for (Attribute result : results)
    chosen = choose(chosen, cast<IntegerAttr>(result).getInt());
  return frame.set(op->getResult(0), Tensor::index(chosen));
}

static int32_t runAffineApply(affine::AffineApplyOp op, Frame &frame) {
  return runAffine(op, frame, [](int64_t a, int64_t) { return a; });
}
static int32_t runAffineMin(affine::AffineMinOp op, Frame &frame) {
  return runAffine(op, frame, minimum<int64_t>);
}
static int32_t runAffineMax(affine::AffineMaxOp op, Frame &frame) {
  return runAffine(op, frame, maximum<int64_t>);
}

//===- Between tensors and scalars -------------------------------------===//

static int32_t runDim(tensor::DimOp op, Frame &frame) {
  const Tensor &source = frame[op.getSource()];
  int64_t axis = frame.index(op.getIndex());
  if (axis < 0 || axis >= source.getRank())
    return frame.refuse(op, "asks for dimension " + Twine(axis) + " of rank " + Twine(source.getRank()));
  return frame.set(op.getResult(), Tensor::index(source.getDim(axis)));
}

static int32_t runExtract(tensor::ExtractOp op, Frame &frame) {
  Tensor source = frame[op.getTensor()];
  Shape indices = frame.indices(op.getIndices()), strides = stridesOf(source.getShape());
  int64_t offset = 0;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    if (indices[axis] < 0 || indices[axis] >= source.getDim(axis))
      return frame.fail(op, ADRT_FAIL_BOUNDS,
                        {static_cast<int64_t>(axis), indices[axis], source.getDim(axis)});
    offset += indices[axis] * strides[axis];
  }
  return frame.set(op.getResult(), gather(source, {}, offset, {}));
}

static int32_t runFromElements(tensor::FromElementsOp op, Frame &frame) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  std::optional<ElementType> element = elementTypeOf(type);
  if (!element)
    return frame.refuse(op, "has elements that the reference interpreter does not know");
  Tensor result(*element, type.getShape());
  for (auto [position, value] : llvm::enumerate(op.getElements()))
    scatter(result, frame[value], static_cast<int64_t>(position), {});
  return frame.set(op.getResult(), result);
}

// Sizes that the result's type names are tested where results are.
static int32_t runCast(tensor::CastOp op, Frame &frame) {
  Tensor source = frame[op.getSource()];
  return frame.set(op.getDest(), source);
}

void mlir::ad::reference::registerScalars(Semantics &semantics) {
  registerIntegers(semantics);
  registerFloats(semantics);
  registerConversions(semantics);
  semantics.add(runAffineApply);
  semantics.add(runAffineMin);
  semantics.add(runAffineMax);
  semantics.add(runDim);
  semantics.add(runExtract);
  semantics.add(runFromElements);
  semantics.add(runCast);
}
