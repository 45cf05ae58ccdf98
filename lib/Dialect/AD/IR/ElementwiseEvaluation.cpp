// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations on constants: one scalar function per operation, through lib/Numerics, so that
// folding gives the bits that the compiled program would.

#include "Elementwise.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/Elementary.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad;
using numerics::Elementary;
using numerics::ElementType;

/// Bits of the operands' elements to bits of the result's element.
using ScalarFunction = std::function<uint64_t(ArrayRef<uint64_t>)>;

/// Larger results stay operations: constants cost memory, and time in every pass.
static constexpr int64_t kLargestFoldedConstant = 4096;

//===- Scalar functions -===//

// f on the operands in the type in which floats compute, then the one rounding.
template <class F> static ScalarFunction onFloats(ElementType type, F f) {
  if (type == ElementType::F64)
    return [f](ArrayRef<uint64_t> bits) {
      SmallVector<double, 3> x =
          llvm::map_to_vector<3>(bits, [](uint64_t b) { return llvm::bit_cast<double>(b); });
      return llvm::bit_cast<uint64_t>(static_cast<double>(f(ArrayRef<double>(x))));
    };
  return [f, type](ArrayRef<uint64_t> bits) {
    SmallVector<float, 3> x =
        llvm::map_to_vector<3>(bits, [&](uint64_t b) { return numerics::toFloat(type, b); });
    return numerics::fromFloat(type, f(ArrayRef<float>(x)));
  };
}

// f on the operands as 64-bit numbers; the low bits of the result, so that everything wraps.
template <class F> static ScalarFunction onIntegers(ElementType type, F f) {
  return [f, type](ArrayRef<uint64_t> bits) {
    SmallVector<int64_t, 3> x =
        llvm::map_to_vector<3>(bits, [&](uint64_t b) { return numerics::toInteger(type, b); });
    return numerics::fromInteger(type, static_cast<int64_t>(f(ArrayRef<int64_t>(x))));
  };
}

template <class F, class I> static ScalarFunction onNumbers(ElementType type, F onFloat, I onInteger) {
  return numerics::isFloat(type) ? onFloats(type, onFloat) : onIntegers(type, onInteger);
}

static ScalarFunction elementary(ElementType type, Elementary function) {
  return onFloats(type, [function](auto x) {
    return x.size() == 2 ? numerics::evaluate(function, x[0], x[1]) : numerics::evaluate(function, x[0]);
  });
}

static uint64_t wrap(int64_t value) { return static_cast<uint64_t>(value); }

// IEEE maximum: NaN propagates, -0 < +0.
template <class T> static T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<T>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T> static T minimum(T a, T b) { return -maximum(-a, -b); }

// x / 0 is 0; division by -1 negates, which wraps.
static int64_t divide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? static_cast<int64_t>(0 - wrap(a)) : a / b;
}
static int64_t remainder(int64_t a, int64_t b) {
  if (b == 0)
    return a;
  return b == -1 ? 0 : a % b;
}

template <class T> static T sign(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x; }

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

// Both conversions are exact: no float that is not f64 has more digits, no integer more than 64 bits.
static ScalarFunction comparison(ElementType type, ComparePredicate predicate) {
  return [=](ArrayRef<uint64_t> x) -> uint64_t {
    if (numerics::isFloat(type))
      return holds(predicate, numerics::toDouble(type, x[0]), numerics::toDouble(type, x[1]));
    return holds(predicate, numerics::toInteger(type, x[0]), numerics::toInteger(type, x[1]));
  };
}

static ScalarFunction conversion(ElementType from, ElementType to) {
  return [=](ArrayRef<uint64_t> x) { return numerics::castScalar(from, to, x[0]); };
}

//===- Which function an operation computes -===//

static std::optional<Elementary> elementaryOf(Operation *op) {
  using Result = std::optional<Elementary>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](ExpOp) { return Elementary::Exp; })
      .Case([](Exp2Op) { return Elementary::Exp2; })
      .Case([](Expm1Op) { return Elementary::Expm1; })
      .Case([](LogOp) { return Elementary::Log; })
      .Case([](Log2Op) { return Elementary::Log2; })
      .Case([](Log1pOp) { return Elementary::Log1p; })
      .Case([](SinOp) { return Elementary::Sin; })
      .Case([](CosOp) { return Elementary::Cos; })
      .Case([](TanOp) { return Elementary::Tan; })
      .Case([](TanhOp) { return Elementary::Tanh; })
      .Case([](SqrtOp) { return Elementary::Sqrt; })
      .Case([](RsqrtOp) { return Elementary::Rsqrt; })
      .Case([](RecipOp) { return Elementary::Recip; })
      .Case([](ErfOp) { return Elementary::Erf; })
      .Case([](SigmoidOp) { return Elementary::Sigmoid; })
      .Case([](SiluOp) { return Elementary::Silu; })
      .Case([](SoftplusOp) { return Elementary::Softplus; })
      .Case([](PowOp) { return Elementary::Pow; })
      .Case([](Atan2Op) { return Elementary::Atan2; })
      .Case([](GeluOp gelu) {
        return gelu.getForm() == GeluForm::tanh ? Elementary::GeluTanh : Elementary::Gelu;
      })
      .Default([](Operation *) { return Result(); });
}

static ScalarFunction unaryFunction(Operation *op, ElementType type) {
  return llvm::TypeSwitch<Operation *, ScalarFunction>(op)
      .Case([&](AbsOp) {
        return onNumbers(
            type, [](auto x) { return std::abs(x[0]); },
            [](auto x) { return x[0] < 0 ? 0 - wrap(x[0]) : wrap(x[0]); });
      })
      .Case([&](NegOp) {
        return onNumbers(type, [](auto x) { return -x[0]; }, [](auto x) { return 0 - wrap(x[0]); });
      })
      .Case([&](SignOp) {
        return onNumbers(type, [](auto x) { return sign(x[0]); }, [](auto x) { return sign(x[0]); });
      })
      .Case([&](FloorOp) { return onFloats(type, [](auto x) { return std::floor(x[0]); }); })
      .Case([&](CeilOp) { return onFloats(type, [](auto x) { return std::ceil(x[0]); }); })
      .Case([&](RoundEvenOp) { return onFloats(type, [](auto x) { return std::nearbyint(x[0]); }); })
      .Case([&](ReluOp) {
        return onFloats(type, [](auto x) { return x[0] < 0 ? decltype(x[0] * 0)(0) : x[0]; });
      })
      .Case([&](NotOp) {
        int64_t mask = type == ElementType::I1 ? 1 : -1;
        return onIntegers(type, [mask](auto x) { return x[0] ^ mask; });
      })
      .Default([](Operation *) { return ScalarFunction(); });
}

static ScalarFunction arithmeticFunction(Operation *op, ElementType type) {
  return llvm::TypeSwitch<Operation *, ScalarFunction>(op)
      .Case([&](AddOp) {
        return onNumbers(
            type, [](auto x) { return x[0] + x[1]; }, [](auto x) { return wrap(x[0]) + wrap(x[1]); });
      })
      .Case([&](SubOp) {
        return onNumbers(
            type, [](auto x) { return x[0] - x[1]; }, [](auto x) { return wrap(x[0]) - wrap(x[1]); });
      })
      .Case([&](MulOp) {
        return onNumbers(
            type, [](auto x) { return x[0] * x[1]; }, [](auto x) { return wrap(x[0]) * wrap(x[1]); });
      })
      .Case([&](DivOp) {
        return onNumbers(type, [](auto x) { return x[0] / x[1]; }, [](auto x) { return divide(x[0], x[1]); });
      })
      .Case([&](RemOp) {
        return onNumbers(
            type, [](auto x) { return std::fmod(x[0], x[1]); }, [](auto x) { return remainder(x[0], x[1]); });
      })
      .Case([&](MaxOp) {
        return onNumbers(
            type, [](auto x) { return maximum(x[0], x[1]); }, [](auto x) { return std::max(x[0], x[1]); });
      })
      .Case([&](MinOp) {
        return onNumbers(
            type, [](auto x) { return minimum(x[0], x[1]); }, [](auto x) { return std::min(x[0], x[1]); });
      })
      .Case([&](ClampOp) {
        return onNumbers(
            type, [](auto x) { return minimum(maximum(x[0], x[1]), x[2]); },
            [](auto x) { return std::min(std::max(x[0], x[1]), x[2]); });
      })
      .Case([&](FmaOp) { return onFloats(type, [](auto x) { return std::fma(x[0], x[1], x[2]); }); })
      .Default([](Operation *) { return ScalarFunction(); });
}

static ScalarFunction otherFunction(Operation *op, ElementType type) {
  ElementType result = *numerics::elementTypeOf(op->getResult(0).getType());
  return llvm::TypeSwitch<Operation *, ScalarFunction>(op)
      .Case([&](AndOp) { return onIntegers(type, [](auto x) { return x[0] & x[1]; }); })
      .Case([&](OrOp) { return onIntegers(type, [](auto x) { return x[0] | x[1]; }); })
      .Case([&](XorOp) { return onIntegers(type, [](auto x) { return x[0] ^ x[1]; }); })
      .Case([&](CompareOp compare) { return comparison(type, compare.getPredicate()); })
      .Case([&](CastOp) { return conversion(type, result); })
      .Case([&](IsFiniteOp) -> ScalarFunction {
        return [type](ArrayRef<uint64_t> x) -> uint64_t {
          return std::isfinite(numerics::toDouble(type, x[0]));
        };
      })
      .Case(
          [&](SelectOp) -> ScalarFunction { return [](ArrayRef<uint64_t> x) { return x[0] ? x[1] : x[2]; }; })
      .Default([](Operation *) { return ScalarFunction(); });
}

static ScalarFunction scalarFunctionOf(Operation *op) {
  std::optional<ElementType> type = numerics::elementTypeOf(op->getOperand(0).getType());
  if (!type)
    return nullptr;
  if (std::optional<Elementary> function = elementaryOf(op))
    return elementary(*type, *function);
  if (ScalarFunction function = unaryFunction(op, *type))
    return function;
  if (ScalarFunction function = arithmeticFunction(op, *type))
    return function;
  return otherFunction(op, *type);
}

//===- Tensors -===//

// The bits of all elements, of one for a splat.
static SmallVector<uint64_t> bitsOf(DenseElementsAttr attr) {
  SmallVector<uint64_t> bits;
  if (attr.isSplat()) {
    if (isa<FloatType>(attr.getElementType()))
      bits.push_back(attr.getSplatValue<APFloat>().bitcastToAPInt().getZExtValue());
    else
      bits.push_back(attr.getSplatValue<APInt>().getZExtValue());
  } else if (isa<FloatType>(attr.getElementType())) {
    for (const APFloat &value : attr.getValues<APFloat>())
      bits.push_back(value.bitcastToAPInt().getZExtValue());
  } else {
    for (const APInt &value : attr.getValues<APInt>())
      bits.push_back(value.getZExtValue());
  }
  return bits;
}

static DenseElementsAttr fromBits(RankedTensorType type, ArrayRef<uint64_t> bits) {
  Type element = type.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  auto integers = llvm::map_to_vector(
      bits, [&](uint64_t b) { return APInt(width, b, /*isSigned=*/false, /*implicitTrunc=*/true); });
  auto floatType = dyn_cast<FloatType>(element);
  if (!floatType)
    return DenseElementsAttr::get(type, integers);
  return DenseElementsAttr::get(type, llvm::map_to_vector(integers, [&](const APInt &value) {
                                  return APFloat(floatType.getFloatSemantics(), value);
                                }));
}

// For each element of the result, the place of the operand's element: broadcast dimensions have stride 0.
static SmallVector<int64_t> broadcastIndices(RankedTensorType from, RankedTensorType to) {
  SmallVector<int64_t> strides(to.getRank(), 0);
  int64_t stride = 1, lead = to.getRank() - from.getRank();
  for (int64_t dimension = from.getRank() - 1; dimension >= 0; --dimension) {
    int64_t size = from.getDimSize(dimension);
    strides[lead + dimension] = size == 1 ? 0 : stride;
    stride *= size;
  }
  SmallVector<int64_t> indices(to.getNumElements()), position(to.getRank(), 0);
  for (int64_t &index : indices) {
    index = 0;
    for (auto [own, step] : llvm::zip_equal(position, strides))
      index += own * step;
    for (int64_t dimension = to.getRank() - 1; dimension >= 0; --dimension) {
      if (++position[dimension] < to.getDimSize(dimension))
        break;
      position[dimension] = 0;
    }
  }
  return indices;
}

DenseElementsAttr ad::evaluateElementwise(Operation *op, ArrayRef<Attribute> operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return nullptr;
  bool splat = true;
  SmallVector<SmallVector<uint64_t>> bits;
  for (Attribute operand : operands) {
    auto dense = dyn_cast_or_null<DenseElementsAttr>(operand);
    if (!dense || (!dense.isSplat() && type.getNumElements() > kLargestFoldedConstant))
      return nullptr;
    splat &= dense.isSplat();
    bits.push_back(bitsOf(dense));
  }
  ScalarFunction function = scalarFunctionOf(op);
  if (!function)
    return nullptr;

  SmallVector<SmallVector<int64_t>> indices;
  int64_t count = splat ? 1 : type.getNumElements();
  for (auto [operand, values] : llvm::zip_equal(op->getOperands(), bits))
    indices.push_back(values.size() == 1 ? SmallVector<int64_t>(count, 0)
                                         : broadcastIndices(cast<RankedTensorType>(operand.getType()), type));
  SmallVector<uint64_t> results(count), arguments(operands.size());
  for (int64_t element = 0; element < count; ++element) {
    for (size_t i = 0; i < arguments.size(); ++i)
      arguments[i] = bits[i][indices[i][element]];
    results[element] = function(arguments);
  }
  return fromBits(type, results);
}
