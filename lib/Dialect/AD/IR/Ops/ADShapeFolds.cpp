// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Folds of the operations that move data. All keep every bit, and none drops a run-time check that could
// fail. None sees through ad.barrier, since they look for definitions by their own operations and constants
// only.

#include "../Elementwise.h"
#include "../ShapeUtils.h"

using namespace mlir;
using namespace mlir::ad;

//===- Constants -===//

// Larger constants are not rewritten: the program would hold both versions.
static constexpr int64_t kMaxFoldedElements = 4096;

// The constant whose element at a result index is element `source(index)` of `input`, in row-major order.
// Null for constants that are too large or opaque.
static Attribute gatherConstant(Attribute input, RankedTensorType type,
                                function_ref<int64_t(ArrayRef<int64_t>)> source) {
  auto dense = dyn_cast_if_present<DenseElementsAttr>(input);
  std::optional<int64_t> count = countElements(type.getShape());
  if (!dense || !count || !type.hasStaticShape())
    return nullptr;
  if (dense.isSplat())
    return dense.resizeSplat(type);
  if (std::max(*count, dense.getNumElements()) > kMaxFoldedElements)
    return nullptr;
  SmallVector<Attribute> from = llvm::to_vector(dense.getValues<Attribute>()), to;
  SmallVector<int64_t> index(type.getRank(), 0);
  for (int64_t element = 0; element < *count; ++element) {
    to.push_back(from[source(index)]);
    for (int64_t axis = type.getRank(); axis-- > 0;) {
      if (++index[axis] < type.getDimSize(axis))
        break;
      index[axis] = 0;
    }
  }
  return DenseElementsAttr::get(type, to);
}

// The strides of a row-major tensor, in elements. Only those of small static shapes are
// used; the others wrap around.
static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis > 0; --axis)
    strides[axis - 1] =
        static_cast<int64_t>(static_cast<uint64_t>(strides[axis]) * static_cast<uint64_t>(shape[axis]));
  return strides;
}

//===- Folds -===//

// The operation of that kind that makes the input. Outside of functions, values may depend on themselves:
// then there is none, so that repeated folds end.
template <class OpT> static OpT producerOf(OpT op) {
  auto inner = op.getInput().template getDefiningOp<OpT>();
  bool comesFirst = inner && (inner->getBlock() != op->getBlock() || inner->isBeforeInBlock(op));
  return comesFirst ? inner : OpT();
}

// A fold to the result itself would mean that the operation was changed, and be repeated without end.
static OpFoldResult unlessItself(Value input, Value result) {
  return input != result ? OpFoldResult(input) : OpFoldResult();
}

// Whether `input` can replace `result`: equal sizes alone may still be written differently in the types.
static bool canReplace(Value input, Value result) {
  return input != result && input.getType() == result.getType() && haveSameShape(input, result);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (canReplace(getInput(), getResult()))
    return getInput();
  if (auto dense = dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput());
      dense && getType().hasStaticShape()) {
    if (dense.isSplat())
      return dense.resizeSplat(getType());
    if (dense.getNumElements() <= kMaxFoldedElements)
      return dense.reshape(getType());
  }
  // With static shapes the inner reshape checks nothing at run time.
  auto inner = producerOf(*this);
  if (inner && inner.getType().hasStaticShape() && inner.getInput().getType().hasStaticShape()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (canReplace(getInput(), getResult()))
    return getInput();
  ArrayRef<int64_t> shape = getInput().getType().getShape();
  if (getInput().getType().hasStaticShape()) {
    int64_t lead = getType().getRank() - static_cast<int64_t>(shape.size());
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    Attribute constant = gatherConstant(adaptor.getInput(), getType(), [&](ArrayRef<int64_t> index) {
      int64_t element = 0;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        element += shape[axis] == 1 ? 0 : index[lead + axis] * strides[axis];
      return element;
    });
    if (constant)
      return constant;
  }
  auto inner = producerOf(*this);
  if (inner && inner.getType().hasStaticShape() && inner.getInput().getType().hasStaticShape()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

// Nothing is summed, but the rounding to the result would saturate an infinity of f8E5M2.
OpFoldResult SumToShapeOp::fold(FoldAdaptor) {
  bool same = keepsEveryValue(getType().getElementType()) && canReplace(getInput(), getResult());
  return same ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return unlessItself(getInput(), getResult());
  SmallVector<int64_t> strides = rowMajorStrides(getInput().getType().getShape());
  Attribute constant = gatherConstant(adaptor.getInput(), getType(), [&](ArrayRef<int64_t> index) {
    int64_t element = 0;
    for (auto [axis, position] : llvm::zip_equal(permutation, index))
      element += position * strides[axis];
    return element;
  });
  if (constant)
    return constant;
  if (auto inner = producerOf(*this)) {
    SmallVector<int64_t> composed;
    for (int64_t axis : permutation)
      composed.push_back(inner.getPermutation()[axis]);
    setPermutation(composed);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  bool fromStart = llvm::all_of(getOffsets(), [](int64_t offset) { return offset == 0; });
  bool everyElement = llvm::all_of(getStrides(), [](int64_t stride) { return stride == 1; });
  if (fromStart && everyElement && canReplace(getInput(), getResult()))
    return getInput();
  SmallVector<int64_t> strides = rowMajorStrides(getInput().getType().getShape());
  return gatherConstant(adaptor.getInput(), getType(), [&](ArrayRef<int64_t> index) {
    int64_t element = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      element += (getOffsets()[axis] + index[axis] * getStrides()[axis]) * strides[axis];
    return element;
  });
}

// The constant around `value`, with elements of `input` where it is inserted.
static Attribute padConstant(PadOp op, DenseElementsAttr input, Attribute value) {
  RankedTensorType type = op.getType(), from = op.getInput().getType();
  std::optional<int64_t> count = countElements(type.getShape());
  if (!type.hasStaticShape() || !count || *count > kMaxFoldedElements)
    return nullptr;
  SmallVector<Attribute> elements(*count, value);
  SmallVector<int64_t> strides = rowMajorStrides(type.getShape()), index(from.getRank(), 0);
  for (Attribute element : input.getValues<Attribute>()) {
    int64_t position = 0;
    for (int64_t axis = 0; axis < from.getRank(); ++axis)
      position += (op.getLow()[axis] + index[axis] * (op.getInterior()[axis] + 1)) * strides[axis];
    elements[position] = element;
    for (int64_t axis = from.getRank(); axis-- > 0;) {
      if (++index[axis] < from.getDimSize(axis))
        break;
      index[axis] = 0;
    }
  }
  return DenseElementsAttr::get(type, elements);
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  auto isZero = [](int64_t count) { return count == 0; };
  if (llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero) &&
      llvm::all_of(getInterior(), isZero))
    return unlessItself(getInput(), getResult());
  auto input = dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput());
  auto value = dyn_cast_if_present<DenseElementsAttr>(adaptor.getValue());
  if (!value)
    return {};
  Attribute element = value.getSplatValue<Attribute>();
  // The input is empty, or all its elements are the padding value.
  bool onlyValue = countElements(getInput().getType().getShape()) == 0 ||
                   (input && input.isSplat() && input.getSplatValue<Attribute>() == element);
  if (onlyValue && getType().hasStaticShape())
    return DenseElementsAttr::get(getType(), element);
  return input ? padConstant(*this, input, element) : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  std::optional<int64_t> count = countElements(getType().getShape());
  if (!getType().hasStaticShape() || !count || *count > kMaxFoldedElements)
    return {};
  // For each outer index, the rows of each input follow one another.
  SmallVector<SmallVector<Attribute>> parts;
  for (Attribute input : adaptor.getInputs()) {
    auto dense = dyn_cast_if_present<DenseElementsAttr>(input);
    if (!dense)
      return {};
    parts.push_back(llvm::to_vector(dense.getValues<Attribute>()));
  }
  int64_t outer = 1;
  for (int64_t size : getType().getShape().take_front(getAxis()))
    outer *= size;
  SmallVector<Attribute> elements;
  for (int64_t row = 0; row < outer; ++row)
    for (ArrayRef<Attribute> part : parts)
      llvm::append_range(elements, part.slice(row * (part.size() / outer), part.size() / outer));
  return DenseElementsAttr::get(getType(), elements);
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> shape = getType().getShape(), axes = getAxes();
  if (llvm::all_of(axes, [&](int64_t axis) { return shape[axis] == 0 || shape[axis] == 1; }))
    return unlessItself(getInput(), getResult());
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  Attribute constant = gatherConstant(adaptor.getInput(), getType(), [&](ArrayRef<int64_t> index) {
    int64_t element = 0;
    for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
      element +=
          (llvm::is_contained(axes, axis) ? shape[axis] - 1 - index[axis] : index[axis]) * strides[axis];
    return element;
  });
  if (constant)
    return constant;
  // Axes that both reverse are as they were.
  if (auto inner = producerOf(*this)) {
    SmallVector<int64_t> once;
    std::set_symmetric_difference(axes.begin(), axes.end(), inner.getAxes().begin(), inner.getAxes().end(),
                                  std::back_inserter(once));
    setAxes(once);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}
