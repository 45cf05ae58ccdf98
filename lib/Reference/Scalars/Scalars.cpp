// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Host code: floats, conversions, choices, and what connects scalars with tensors.

#include "../Movement.h"
#include "Arithmetic.h"
#include "IndexExpressions.h"
#include "ScalarValues.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

//===- Floats ----------------------------------------------------------===//

/// f(x) or f(x, y) on scalars, in the type in which tensors of it would compute.
template <class OpT, class F> static void addFloat(Semantics &semantics, F f) {
  semantics.addGeneric<OpT>([f](Operation *op, Frame &frame) {
    if (!isScalarCode(op))
      return refuseTensors(op, frame);
    std::optional<ElementType> type = elementTypeOf(op->getResult(0).getType());
    Tensor x = widen(frame[op->getOperand(0)]);
    Tensor y = widen(frame[op->getOperand(op->getNumOperands() - 1)]);
    Tensor result = withFloat(x.getType(), [&](auto tag) { return map<decltype(tag)>(x, y, f); });
    return frame.set(op->getResult(0), convert(result, *type));
  });
}

static int32_t runElementary(ElementaryOp op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
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
  // A number rather than NaN.
  addFloat<arith::MinNumFOp>(semantics, [](auto a, auto b) {
    return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b);
  });
  addFloat<arith::MaxNumFOp>(semantics, [](auto a, auto b) {
    return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b);
  });
  addFloat<math::AbsFOp>(semantics, [](auto a, auto) { return std::fabs(a); });
  addFloat<math::FloorOp>(semantics, [](auto a, auto) { return std::floor(a); });
  addFloat<math::CeilOp>(semantics, [](auto a, auto) { return std::ceil(a); });
  // The entry has set rounding to nearest even.
  addFloat<math::RoundEvenOp>(semantics, [](auto a, auto) { return std::nearbyint(a); });
  addFloat<math::SqrtOp>(semantics, [](auto a, auto) { return std::sqrt(a); });
  semantics.add(runElementary);
}

//===- Comparison, choice, conversion ----------------------------------===//

/// Of any float type; exact.
static double numberOf(const Tensor &scalar) { return numerics::toDouble(scalar.getType(), bitsOf(scalar)); }

static int32_t runCmpF(arith::CmpFOp op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  bool holds = arith::applyCmpPredicate(op.getPredicate(), APFloat(numberOf(frame[op.getLhs()])),
                                        APFloat(numberOf(frame[op.getRhs()])));
  return setInteger(frame, op.getResult(), APInt(1, holds));
}

static int32_t runSelect(arith::SelectOp op, Frame &frame) {
  if (isa<ShapedType>(op.getCondition().getType()))
    return frame.refuse(op, "runs in the reference interpreter with a scalar condition only");
  Value chosen = integerOf(frame, op.getCondition()).isZero() ? op.getFalseValue() : op.getTrueValue();
  Tensor value = frame[chosen];
  return frame.set(op.getResult(), value);
}

/// Between floats as ad.cast does; of an integer to an element type, too.
template <class OpT> static int32_t runConvert(OpT op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  return frame.set(op->getResult(0),
                   convert(frame[op->getOperand(0)], *elementTypeOf(op->getResult(0).getType())));
}

/// Towards zero; what the type does not have is its nearest number, and NaN is 0.
template <class OpT, bool isSigned> static int32_t runFloatToInteger(OpT op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  APSInt number(op.getType().getIntOrFloatBitWidth(), /*isUnsigned=*/!isSigned);
  bool isExact;
  APFloat(numberOf(frame[op->getOperand(0)])).convertToInteger(number, APFloat::rmTowardZero, &isExact);
  return setInteger(frame, op->getResult(0), number);
}

/// With one rounding.
template <class OpT, bool isSigned> static int32_t runIntegerToFloat(OpT op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  ElementType type = *elementTypeOf(op.getType());
  APInt number = integerOf(frame, op->getOperand(0));
  if (isSigned || number.isSignBitClear() || number.getBitWidth() < 64) {
    int64_t value = isSigned ? number.getSExtValue() : static_cast<int64_t>(number.getZExtValue());
    return frame.set(op->getResult(0), withBits(type, numerics::fromInteger(type, value)));
  }
  // Of 2^63 and more: half of it, with what that loses in the last bit, is rounded in the same way.
  int64_t half = static_cast<int64_t>(number.lshr(1).getZExtValue() | (number.getZExtValue() & 1));
  double value = 2 * numerics::toDouble(type, numerics::fromInteger(type, half));
  return frame.set(op->getResult(0), withBits(type, numerics::fromDouble(type, value)));
}

static int32_t runBitcast(arith::BitcastOp op, Frame &frame) {
  if (!isScalarCode(op))
    return refuseTensors(op, frame);
  Type from = op.getIn().getType(), to = op.getType();
  unsigned width = from.getIntOrFloatBitWidth();
  uint64_t bits = isa<FloatType>(from) ? numerics::contractBits(from, bitsOf(frame[op.getIn()]))
                                       : integerOf(frame, op.getIn()).getZExtValue();
  if (isa<FloatType>(to))
    return frame.set(op.getResult(), withBits(*elementTypeOf(to), bits));
  return setInteger(frame, op.getResult(), APInt(width, bits));
}

static int32_t runConstant(arith::ConstantOp op, Frame &frame) {
  std::optional<ElementType> type = elementTypeOf(op.getType());
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value); type && dense)
    return frame.set(op.getResult(), Tensor::constant(*type, dense));
  if (auto integer = dyn_cast<IntegerAttr>(value); integer && isScalarCode(op))
    return setInteger(frame, op.getResult(), integer.getValue());
  if (auto number = dyn_cast<FloatAttr>(value); type && number)
    return frame.set(op.getResult(), withBits(*type, number.getValue().bitcastToAPInt().getZExtValue()));
  return frame.refuse(op, "holds a value that the reference interpreter does not know");
}

static void registerConversions(Semantics &semantics) {
  semantics.add(runCmpF);
  semantics.add(runSelect);
  semantics.add(runConstant);
  semantics.add(runConvert<ConvertOp>);
  semantics.add(runConvert<arith::ExtFOp>);
  semantics.add(runConvert<arith::TruncFOp>);
  semantics.add(runIntegerToFloat<arith::SIToFPOp, true>);
  semantics.add(runIntegerToFloat<arith::UIToFPOp, false>);
  semantics.add(runFloatToInteger<arith::FPToSIOp, true>);
  semantics.add(runFloatToInteger<arith::FPToUIOp, false>);
  semantics.add(runBitcast);
}

//===- Index maps ------------------------------------------------------===//

template <class OpT, class Choose> static int32_t runAffine(OpT op, Frame &frame, Choose choose) {
  Shape operands = frame.indices(op->getOperands());
  AffineMap map = op.getMap();
  ArrayRef<int64_t> dims = ArrayRef(operands).take_front(map.getNumDims()),
                    symbols = ArrayRef(operands).drop_front(map.getNumDims());
  std::optional<int64_t> chosen;
  for (AffineExpr expr : map.getResults()) {
    std::optional<int64_t> value = evaluateIndex(expr, dims, symbols);
    if (!value)
      return frame.refuse(op, "divides by a number below 1");
    chosen = chosen ? choose(*chosen, *value) : *value;
  }
  return frame.set(op->getResult(0), Tensor::index(*chosen));
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
  registerScalarIntegers(semantics);
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
