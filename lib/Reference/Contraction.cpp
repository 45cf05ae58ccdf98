// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums of products. Operands are copied into rows that are contiguous along the contracted index; each
// element of the result is then one dot product in the written order.

#include "Accumulation.h"
#include "Interpreter.h"
#include "Scalars/Arithmetic.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

namespace {
/// An operand as batches of rows.
struct Rows {
  Shape batch, free; ///< sizes of the batch axes and of the free axes
  int64_t length;    ///< of a row: the contracted axes as one index, the last listed fastest
  Tensor data;       ///< [batch, free, length] in the accumulator's type
};
} // namespace

static Rows makeRows(const Tensor &x, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  Rows rows{{}, {}, 1, {}};
  Shape permutation(batch);
  for (int64_t axis : batch)
    rows.batch.push_back(x.getDim(axis));
  for (int64_t axis = 0; axis < x.getRank(); ++axis)
    if (!llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis)) {
      permutation.push_back(axis);
      rows.free.push_back(x.getDim(axis));
    }
  for (int64_t axis : contract) {
    permutation.push_back(axis);
    rows.length *= x.getDim(axis);
  }
  rows.data = transpose(convert(x, reference::accumulatorType(x.getType())), permutation);
  return rows;
}

template <class T> static T dotProduct(OrderAttr order, const T *a, const T *b, int64_t length) {
  return accumulate(
      order, length, T(0), [&](T sum, int64_t k) { return multiplyAdd(a[k], b[k], sum); },
      [](T left, T right) { return add(left, right); });
}

/// [batch, lhs free, rhs free]
static Shape shapeOfProduct(const Rows &lhs, const Rows &rhs) {
  Shape shape(lhs.batch);
  shape.append(lhs.free);
  shape.append(rhs.free);
  return shape;
}

/// In the accumulator's type.
static Tensor contract(const Rows &lhs, const Rows &rhs, OrderAttr order) {
  Tensor result(lhs.data.getType(), shapeOfProduct(lhs, rhs));
  int64_t m = product(lhs.free), n = product(rhs.free), length = lhs.length;
  withNumber(result.getType(), [&](auto tag) {
    using T = decltype(tag);
    const T *left = lhs.data.data<T>(), *right = rhs.data.data<T>();
    T *target = result.data<T>();
    for (int64_t b = 0, batches = product(lhs.batch); b < batches; ++b)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          *target++ = dotProduct(order, left + (b * m + i) * length, right + (b * n + j) * length, length);
  });
  return result;
}

/// Axes that meet must have one size; the error names the axis of the right operand.
static int32_t checkPairs(Operation *op, Frame &frame, const Tensor &lhs, const Tensor &rhs,
                          ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  for (auto [l, r] : llvm::zip_equal(left, right))
    if (lhs.getDim(l) != rhs.getDim(r))
      return frame.fail(op, ADRT_FAIL_SAME_SIZE, {r, lhs.getDim(l), rhs.getDim(r)});
  return ADRT_OK;
}

template <typename OpT> static int32_t checkAxes(OpT op, Frame &frame, const Tensor &lhs, const Tensor &rhs) {
  if (int32_t status = checkPairs(op, frame, lhs, rhs, op.getLhsBatch(), op.getRhsBatch()))
    return status;
  return checkPairs(op, frame, lhs, rhs, op.getLhsContract(), op.getRhsContract());
}

static int32_t runDot(DotOp op, Frame &frame) {
  Tensor lhs = frame[op.getLhs()], rhs = frame[op.getRhs()];
  if (int32_t status = checkAxes(op, frame, lhs, rhs))
    return status;
  Rows left = makeRows(lhs, op.getLhsBatch(), op.getLhsContract());
  Rows right = makeRows(rhs, op.getRhsBatch(), op.getRhsContract());
  if (int32_t status = frame.checkMemory(op, left.data.getType(), shapeOfProduct(left, right)))
    return status;
  Tensor sum = contract(left, right, orderOf(op));
  return frame.set(op.getResult(), convert(sum, *elementTypeOf(op.getResult().getType())));
}

//===- gemm ------------------------------------------------------------===//

/// The tensor times a factor; a factor of 1 multiplies nothing.
static Tensor scaled(const Tensor &x, double factor) {
  if (factor == 1.0)
    return x;
  return withFloat(x.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(x, [&](T a) { return a * static_cast<T>(factor); });
  });
}

static int32_t addBias(GemmOp op, Frame &frame, Tensor &sum) {
  Tensor bias = frame[op.getBias()];
  int64_t leading = sum.getRank() - bias.getRank();
  for (auto [axis, size] : llvm::enumerate(bias.getShape())) {
    int64_t dimension = leading + static_cast<int64_t>(axis);
    if (size != 1 && size != sum.getDim(dimension))
      return frame.fail(op, ADRT_FAIL_BROADCAST, {dimension, size, sum.getDim(dimension)});
  }
  bias = broadcastTo(scaled(convert(bias, sum.getType()), op.getBeta().convertToDouble()), sum.getShape());
  sum = withFloat(sum.getType(), [&](auto tag) {
    using T = decltype(tag);
    return map<T>(sum, bias, [](T a, T b) { return a + b; });
  });
  return ADRT_OK;
}

static int32_t runGemm(GemmOp op, Frame &frame) {
  Tensor lhs = frame[op.getLhs()], rhs = frame[op.getRhs()];
  int64_t left = op.getTransA() ? 0 : 1, right = op.getTransB() ? 1 : 0;
  if (int32_t status = checkPairs(op, frame, lhs, rhs, left, right))
    return status;
  Rows rows = makeRows(lhs, {}, left), columns = makeRows(rhs, {}, right);
  if (int32_t status = frame.checkMemory(op, rows.data.getType(), shapeOfProduct(rows, columns)))
    return status;
  Tensor sum = contract(rows, columns, orderOf(op));
  sum = scaled(sum, op.getAlpha().convertToDouble());
  if (op.getBias())
    if (int32_t status = addBias(op, frame, sum))
      return status;
  return frame.set(op.getResult(), convert(sum, *elementTypeOf(op.getResult().getType())));
}

//===- scaled_dot ------------------------------------------------------===//

/// The largest magnitude, which is NaN if one element is.
static float largestMagnitude(const Tensor &x) {
  float largest = 0;
  for (int64_t i = 0, n = x.getNumElements(); i < n; ++i)
    largest = maximum(largest, std::fabs(x.data<float>()[i]));
  return largest;
}

/// The largest power of two with which the magnitude is at most the greatest finite number of the type.
static float scaleFor(float magnitude, ElementType type) {
  if (!std::isfinite(magnitude) || magnitude == 0)
    return 1;
  double greatest = type == ElementType::F8E4M3FN ? 448.0 : 57344.0;
  int exponent = 126;
  while (exponent > -126 && std::ldexp(static_cast<double>(magnitude), exponent) > greatest)
    --exponent;
  return std::ldexp(1.0f, exponent);
}

namespace {
/// An operand of ad.scaled_dot after rounding.
struct Rounded {
  Tensor data;
  float scale, largest;

  Rounded(const Tensor &operand, Type element, std::optional<float> given) {
    Tensor x = convert(operand, ElementType::F32);
    ElementType type = *elementTypeOf(element);
    largest = largestMagnitude(x);
    scale = given.value_or(scaleFor(largest, type));
    data = convert(map<float>(x, [&](float a) { return a * scale; }), type);
  }
};
} // namespace

static Tensor scalar(float value) {
  Tensor result(ElementType::F32, {});
  result.data<float>()[0] = value;
  return result;
}

static int32_t runScaledDot(ScaledDotOp op, Frame &frame) {
  Tensor lhs = frame[op.getLhs()], rhs = frame[op.getRhs()];
  if (int32_t status = checkAxes(op, frame, lhs, rhs))
    return status;
  auto given = [&](unsigned number) {
    return op.getScales().empty() ? std::nullopt
                                  : std::optional<float>(frame[op.getScales()[number]].data<float>()[0]);
  };
  Rounded left(lhs, op.getLhsType(), given(0)), right(rhs, op.getRhsType(), given(1));
  Rows rows = makeRows(left.data, op.getLhsBatch(), op.getLhsContract());
  Rows columns = makeRows(right.data, op.getRhsBatch(), op.getRhsContract());
  if (int32_t status = frame.checkMemory(op, ElementType::F32, shapeOfProduct(rows, columns)))
    return status;
  float factor = (1.0f / left.scale) * (1.0f / right.scale);
  Tensor result = map<float>(contract(rows, columns, orderOf(op)), [&](float sum) { return sum * factor; });
  frame.set(op.getLhsLargest(), scalar(left.largest));
  frame.set(op.getRhsLargest(), scalar(right.largest));
  return frame.set(op.getResult(), convert(result, *elementTypeOf(op.getResult().getType())));
}

void mlir::ad::reference::registerContraction(Semantics &semantics) {
  semantics.add(runDot);
  semantics.add(runGemm);
  semantics.add(runScaledDot);
}
