// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the operations of layers are: their steps, in the type that they compute in.

#include "StepBuilder.h"
#include "adjoint/Dialect/AD/IR/ADLayerOps.h"
#include "adjoint/Dialect/AD/IR/ADRandomOps.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Numerics/Elementary.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// The second operand of two is broadcast to the shape of the first.
class LayerSteps : public StepBuilder {
public:
  LayerSteps(OpBuilder &builder, Operation *op) : StepBuilder(builder, rememberWritten(op)) {}

  template <typename OpT> Value onto(Value x, Value y) {
    return OpT::create(builder, loc, x.getType(), x, broadcastLike(builder, loc, y, x), PermissionsAttr());
  }
  Value mul(Value x, Value y) { return onto<MulOp>(x, y); }
  Value add(Value x, Value y) { return onto<AddOp>(x, y); }
  Value sub(Value x, Value y) { return onto<SubOp>(x, y); }
  Value zeroUnless(Value condition, Value x) { return select(condition, x, zerosLike(builder, loc, x)); }
  Value number(Value like, double value) {
    return scalarConstant(builder, loc, getElementTypeOrSelf(like), value);
  }
  Value wide(Value x) { return cast(x, computeType(getElementTypeOrSelf(x))); }
  Value narrow(Value x, Value like) { return cast(x, getElementTypeOrSelf(like)); }

  template <typename OpT> Value reduceKept(Value x, ArrayRef<int64_t> axes) {
    return OpT::create(builder, loc, x, axes, /*keepDims=*/true);
  }
  /// The tensor with another shape, whose dynamic sizes are those of the tensor, or `sizes`.
  Value withShape(Value x, ArrayRef<int64_t> shape) {
    return withShape(x, shape, dynamicSizes(builder, loc, x));
  }
  Value withShape(Value x, ArrayRef<int64_t> shape, ValueRange sizes) {
    return reshapeTo(builder, loc, x, typeOf(x).clone(shape), sizes);
  }
  /// Elements `offset` to `offset + size` of the last axis, whose size is static.
  Value lastPart(Value x, int64_t offset, int64_t size) {
    SmallVector<int64_t> offsets(typeOf(x).getRank(), 0), strides(offsets.size(), 1);
    SmallVector<int64_t> shape(typeOf(x).getShape());
    offsets.back() = offset;
    shape.back() = size;
    return SliceOp::create(builder, loc, typeOf(x).clone(shape), x, offsets, strides,
                           dynamicSizes(builder, loc, x), PermissionsAttr());
  }
  Value joinedLast(ValueRange parts) {
    uint64_t last = typeOf(parts.front()).getRank() - 1;
    return ConcatOp::create(builder, loc, parts, last, PermissionsAttr());
  }
  /// A vector of channels, in the computing type, that broadcasts along the other axes of `x`.
  Value alongChannels(Value vector, Value x, int64_t axis) {
    SmallVector<int64_t> shape(typeOf(x).getRank() - axis, 1);
    shape.front() = typeOf(vector).getDimSize(0);
    return withShape(wide(vector), shape);
  }
};
} // namespace

// One value of the type of each result.
static SmallVector<Value> results(Value value) { return {value}; }

//===- one_hot and logsumexp -===//

FailureOr<SmallVector<Value>> OneHotOp::decompose(OpBuilder &builder) {
  LayerSteps steps(builder, *this);
  // Numbers along the axis may not fit into 8 bits.
  Type integer = getInput().getType().getElementType();
  integer = integer.isInteger(8) ? builder.getI32Type() : integer;
  Value numbers = steps.cast(getInput(), integer);
  SmallVector<OpFoldResult> sizes = steps.sizesOf(numbers), column(sizes);
  sizes.insert(sizes.begin() + getAxis(), steps.attr(getType().getDimSize(getAxis())));
  column.insert(column.begin() + getAxis(), steps.attr(1));
  Value index = steps.numbers(integer, sizes, getAxis());
  Value isChosen = steps.compare(ComparePredicate::eq, index, steps.reshaped(numbers, column));
  return results(steps.cast(isChosen, getType().getElementType()));
}

FailureOr<SmallVector<Value>> LogSumExpOp::decompose(OpBuilder &builder) {
  LayerSteps steps(builder, *this);
  int64_t axis = getAxis();
  Value x = steps.wide(getInput());
  Value largest = steps.reduceKept<ReduceMaxOp>(x, axis);
  Value isFinite = IsFiniteOp::create(builder, steps.loc, typeOf(largest).clone(builder.getI1Type()), largest,
                                      PermissionsAttr());
  largest = steps.zeroUnless(isFinite, largest);
  Value powers = steps.unary<ExpOp>(steps.sub(x, largest));
  Value sum = steps.unary<LogOp>(steps.reduceKept<ReduceSumOp>(powers, axis));
  Value made = steps.withShape(steps.add(sum, largest), getType().getShape());
  return results(steps.narrow(made, getResult()));
}

//===- rotary_embedding -===//

// base^(-2 i / n) for each pair of n elements.
static DenseElementsAttr frequencies(double base, int64_t size, FloatType type) {
  SmallVector<APFloat> values;
  for (int64_t i = 0; i < size / 2; ++i) {
    double exponent = -static_cast<double>(2 * i) / static_cast<double>(size);
    APFloat value(numerics::evaluate(numerics::Elementary::Pow, base, exponent));
    bool loses = false;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    values.push_back(value);
  }
  return DenseElementsAttr::get(RankedTensorType::get({size / 2}, type), values);
}

// The angles of positions and pairs.
static Value anglesOf(LayerSteps &steps, RotaryEmbeddingOp op, Type element) {
  int64_t size = op.getType().getShape().back();
  auto table = frequencies(op.getBase().convertToDouble(), size, cast<FloatType>(element));
  Value perPair = ConstantOp::create(steps.builder, steps.loc, table);
  Value positions = steps.cast(op.getPositions(), element);
  SmallVector<OpFoldResult> column = steps.sizesOf(positions), sizes(column);
  column.push_back(steps.attr(1));
  sizes.push_back(steps.attr(size / 2));
  return steps.mul(steps.repeated(steps.reshaped(positions, column), sizes), perPair);
}

FailureOr<SmallVector<Value>> RotaryEmbeddingOp::decompose(OpBuilder &builder) {
  LayerSteps steps(builder, *this);
  Value x = getInput();
  SmallVector<int64_t> shape(getType().getShape()), halfShape(shape), pairShape(shape), oneShape(shape);
  int64_t half = shape.back() / 2;
  halfShape.back() = pairShape.back() = oneShape.back() = half;
  pairShape.push_back(2);
  oneShape.push_back(1);
  // The first and the second elements of the pairs.
  auto part = [&](int64_t number) {
    if (!getInterleaved())
      return steps.wide(steps.lastPart(x, number * half, half));
    return steps.wide(steps.withShape(steps.lastPart(steps.withShape(x, pairShape), number, 1), halfShape));
  };
  Value first = part(0), second = part(1);
  Value angles = anglesOf(steps, *this, getElementTypeOrSelf(first));
  Value cosines = steps.unary<CosOp>(angles), sines = steps.unary<SinOp>(angles);
  Value turnedFirst =
      steps.narrow(steps.sub(steps.mul(first, cosines), steps.mul(second, sines)), getResult());
  Value turnedSecond =
      steps.narrow(steps.add(steps.mul(second, cosines), steps.mul(first, sines)), getResult());
  if (!getInterleaved())
    return results(steps.joinedLast({turnedFirst, turnedSecond}));
  Value pairs =
      steps.joinedLast({steps.withShape(turnedFirst, oneShape), steps.withShape(turnedSecond, oneShape)});
  return results(steps.withShape(pairs, shape));
}

//===- dropout -===//

// The numbers of the elements in row-major order: sums over the axes, so that no other shape stands between
// this and what is computed before and after.
static Value elementNumbers(LayerSteps &steps, Value like) {
  Type word = steps.builder.getI64Type();
  SmallVector<OpFoldResult> sizes = steps.sizesOf(like);
  OpFoldResult stride = steps.attr(1);
  Value sum = steps.full(0, word, sizes);
  for (int64_t axis = typeOf(like).getRank(); axis-- > 0;) {
    Value factor = arith::IndexCastOp::create(steps.builder, steps.loc, word, steps.index(stride));
    Value distance = FullOp::create(steps.builder, steps.loc, RankedTensorType::get({}, word), factor,
                                    ValueRange(), PermissionsAttr());
    sum = steps.add(sum, steps.mul(steps.numbers(word, sizes, axis), distance));
    stride = mulSizes(steps.builder, steps.loc, stride, sizes[axis]);
  }
  return sum;
}

FailureOr<SmallVector<Value>> DropoutOp::decompose(OpBuilder &builder) {
  LayerSteps steps(builder, *this);
  Value x = steps.wide(getInput());
  double rate = getRate().convertToDouble();
  Value counters = steps.add(elementNumbers(steps, x), getCounter());
  Value uniform = RngUniformOp::create(builder, steps.loc, typeOf(x).clone(builder.getF32Type()), getKey(),
                                       counters, PermissionsAttr());
  Value isKept = steps.compare(ComparePredicate::ge, uniform, steps.number(uniform, rate));
  Value scaled = steps.onto<DivOp>(x, steps.number(x, 1.0 - rate));
  return results(steps.narrow(steps.zeroUnless(isKept, scaled), getResult()));
}

//===- Norms of channels -===//

FailureOr<SmallVector<Value>> GroupNormOp::decompose(OpBuilder &builder) {
  LayerSteps steps(builder, *this);
  int64_t axis = getAxis();
  Value x = steps.wide(getInput());
  // The channels after the batch.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
  order.erase(order.begin() + axis);
  order.insert(order.begin() + 1, axis);
  Value ordered = axis == 1 ? x : steps.transposed(x, order);
  SmallVector<OpFoldResult> sizes = steps.sizesOf(ordered);
  OpFoldResult length = steps.attr(typeOf(x).getDimSize(axis) / static_cast<int64_t>(getGroups()));
  for (OpFoldResult size : ArrayRef(sizes).drop_front(2))
    length = mulSizes(builder, steps.loc, length, size);
  if (llvm::any_of(ArrayRef(sizes).drop_front(2), llvm::IsaPred<Value>))
    length = steps.index(length);
  Value rows = steps.reshaped(ordered, {sizes[0], steps.attr(getGroups()), length});

  // A product with 1 and a sum with -0 change no bit.
  Type element = typeOf(x).getElementType();
  Value normal =
      LayerNormOp::create(builder, steps.loc, rows.getType(), rows, steps.full(1.0, element, length),
                          steps.full(-0.0, element, length), getEpsilon(), OrderAttr(), PermissionsAttr());
  normal = steps.reshaped(normal, sizes);
  if (axis != 1)
    normal = steps.transposed(normal, invertPermutationVector(order));
  Value scaled = steps.mul(normal, steps.alongChannels(getScale(), x, axis));
  return results(steps.narrow(steps.add(scaled, steps.alongChannels(getBias(), x, axis)), getResult()));
}

// d * rsqrt(variance + epsilon) * scale + bias; the variance broadcasts.
static Value normalized(LayerSteps &steps, Value d, Value variance, const APFloat &epsilon, Value scale,
                        Value bias) {
  Value shifted = steps.add(variance, steps.number(variance, epsilon.convertToDouble()));
  Value normal = steps.mul(d, steps.unary<RsqrtOp>(shifted));
  return steps.add(steps.mul(normal, scale), bias);
}

FailureOr<SmallVector<Value>> BatchNormOp::decompose(OpBuilder &builder) {
  LayerSteps steps(builder, *this);
  int64_t axis = getAxis();
  Value x = steps.wide(getInput());
  SmallVector<int64_t> others = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
  others.erase(others.begin() + axis);
  Value mean = steps.reduceKept<ReduceMeanOp>(x, others);
  Value d = steps.sub(x, mean);
  Value variance = steps.reduceKept<ReduceMeanOp>(steps.mul(d, d), others);
  Value made = normalized(steps, d, variance, getEpsilon(), steps.alongChannels(getScale(), x, axis),
                          steps.alongChannels(getBias(), x, axis));
  auto ofChannels = [&](Value statistic) {
    return steps.withShape(statistic, typeOf(getMean()).getShape(), ValueRange());
  };
  return SmallVector<Value>{steps.narrow(made, getResult()), ofChannels(mean), ofChannels(variance)};
}

FailureOr<SmallVector<Value>> BatchNormInferenceOp::decompose(OpBuilder &builder) {
  LayerSteps steps(builder, *this);
  int64_t axis = getAxis();
  Value x = steps.wide(getInput());
  Value d = steps.sub(x, steps.alongChannels(getMean(), x, axis));
  Value made = normalized(steps, d, steps.alongChannels(getVariance(), x, axis), getEpsilon(),
                          steps.alongChannels(getScale(), x, axis), steps.alongChannels(getBias(), x, axis));
  return results(steps.narrow(made, getResult()));
}
