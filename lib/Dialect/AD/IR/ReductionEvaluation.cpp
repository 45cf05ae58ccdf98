// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions of constants: in the accumulator type and the written order, so that folding gives the bits that
// the compiled program would.

#include "Reduction.h"
#include "ShapeUtils.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "adjoint/Numerics/Order.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad;
using numerics::ElementType;

static constexpr int64_t kMaxFoldedElements = 4096;

//===- Arithmetic of accumulators -===//

// Integers compute modulo 2^64, of which the low bits are those of any narrower accumulator.
template <class T> static T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <class T> static T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

// IEEE maximum: NaN propagates, -0 < +0.
template <class T> static T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

template <class T> static T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return -maximum(-a, -b);
  return a < b ? a : b;
}

template <class T> static T combine(ReductionKind kind, T a, T b) {
  switch (kind) {
  case ReductionKind::sum:
  case ReductionKind::mean:
    return add(a, b);
  case ReductionKind::product:
    return multiply(a, b);
  case ReductionKind::maximum:
    return maximum(a, b);
  case ReductionKind::minimum:
    return minimum(a, b);
  }
  return a;
}

// `width` is that of the elements: the smallest i8 is -128 although i8 accumulates in i32.
template <class T> static T identityOf(ReductionKind kind, unsigned width) {
  if (kind == ReductionKind::product)
    return 1;
  if (kind == ReductionKind::sum || kind == ReductionKind::mean)
    return 0;
  bool smallest = kind == ReductionKind::maximum;
  if constexpr (std::is_integral_v<T>)
    return smallest ? llvm::minIntN(width) : llvm::maxIntN(width);
  else
    return smallest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
}

//===- Along one axis -===//

namespace {
// A tensor of accumulators, with the shape of what is left to reduce.
template <class T> struct Accumulators {
  SmallVector<int64_t> shape;
  SmallVector<T> values;
};
} // namespace

// Reduces one axis, which stays with size 1.
template <class T>
static void reduceAxis(Accumulators<T> &x, int64_t axis, ReductionKind kind, T identity, OrderAttr order) {
  int64_t length = x.shape[axis], inner = 1, outer = 1;
  for (int64_t size : ArrayRef<int64_t>(x.shape).take_front(axis))
    outer *= size;
  for (int64_t size : ArrayRef<int64_t>(x.shape).drop_front(axis + 1))
    inner *= size;
  SmallVector<T> reduced;
  auto join = [&](T a, T b) { return combine(kind, a, b); };
  for (int64_t position = 0; position < outer * inner; ++position) {
    const T *first = x.values.data() + position / inner * length * inner + position % inner;
    auto step = [&](T sum, int64_t index) { return combine(kind, sum, first[index * inner]); };
    reduced.push_back(
        order.hasLanes()
            ? numerics::laneTree(length, identity, step, join, order.getLanes(), order.getPartLength())
            : numerics::blockChain(length, identity, step, join, order.getPartLength()));
  }
  x.shape[axis] = 1;
  x.values = std::move(reduced);
}

// From the last axis to the first; the lanes of an order over several axes belong to the innermost one.
template <class T>
static void reduceAxes(Accumulators<T> &x, ArrayRef<int64_t> axes, ReductionKind kind, unsigned width,
                       OrderAttr order) {
  T identity = identityOf<T>(kind, width);
  int64_t count = 1, last = static_cast<int64_t>(x.shape.size()) - 1;
  OrderAttr others = order.hasLanes() ? OrderAttr::canonicalBlocks(order.getContext()) : order;
  for (int64_t axis : llvm::reverse(axes)) {
    count *= x.shape[axis];
    reduceAxis(x, axis, kind, identity, axes.size() == 1 || axis == last ? order : others);
  }
  if constexpr (std::is_floating_point_v<T>)
    if (kind == ReductionKind::mean)
      for (T &value : x.values)
        value /= static_cast<T>(count);
}

//===- Constants -===//

static SmallVector<uint64_t> readBits(DenseElementsAttr dense) {
  if (isa<FloatType>(dense.getElementType()))
    return llvm::map_to_vector(dense.getValues<APFloat>(),
                               [](const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); });
  return llvm::map_to_vector(dense.getValues<APInt>(),
                             [](const APInt &value) { return value.getZExtValue(); });
}

static Attribute fromBits(RankedTensorType type, ArrayRef<uint64_t> bits) {
  unsigned width = type.getElementTypeBitWidth();
  auto integers = llvm::map_to_vector(bits, [&](uint64_t element) {
    return APInt(width, element, /*isSigned=*/false, /*implicitTrunc=*/true);
  });
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return DenseElementsAttr::get(type, integers);
  auto floats = llvm::map_to_vector(
      integers, [&](const APInt &value) { return APFloat(element.getFloatSemantics(), value); });
  return DenseElementsAttr::get(type, floats);
}

Attribute ad::evaluateReduction(ReductionKind kind, Attribute input, ArrayRef<int64_t> axes, OrderAttr order,
                                RankedTensorType result) {
  auto dense = dyn_cast_if_present<DenseElementsAttr>(input);
  std::optional<int64_t> count = countElements(result.getShape());
  if (!dense || !count || std::max(*count, dense.getNumElements()) > kMaxFoldedElements)
    return nullptr;
  // The extremum is the same in every order.
  if (!order && (kind == ReductionKind::maximum || kind == ReductionKind::minimum))
    order = OrderAttr::canonicalBlocks(input.getContext());
  std::optional<ElementType> from = numerics::elementTypeOf(dense.getType()),
                             to = numerics::elementTypeOf(result);
  if (!order || !from || !to)
    return nullptr;
  unsigned width = dense.getElementType().getIntOrFloatBitWidth();
  SmallVector<int64_t> shape = llvm::to_vector(dense.getType().getShape());
  SmallVector<uint64_t> bits = readBits(dense), rounded;
  // Each accumulator rounds once, from its own type to that of the result.
  auto run = [&](auto read, ElementType accumulator, auto write) {
    using T = decltype(read(uint64_t()));
    Accumulators<T> x{shape, llvm::map_to_vector(bits, read)};
    reduceAxes(x, axes, kind, width, order);
    for (T value : x.values)
      rounded.push_back(numerics::castScalar(accumulator, *to, write(value)));
  };
  if (*from == ElementType::F64)
    run([](uint64_t element) { return llvm::bit_cast<double>(element); }, ElementType::F64,
        [](double value) { return llvm::bit_cast<uint64_t>(value); });
  else if (numerics::isFloat(*from))
    run([&](uint64_t element) { return numerics::toFloat(*from, element); }, ElementType::F32,
        [](float value) { return static_cast<uint64_t>(llvm::bit_cast<uint32_t>(value)); });
  else
    run([&](uint64_t element) { return numerics::toInteger(*from, element); }, ElementType::I64,
        [](int64_t value) { return static_cast<uint64_t>(value); });
  return fromBits(result, rounded);
}
