// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Strided copies.

#include "Movement.h"

using namespace mlir;
using namespace mlir::ad::reference;

Shape mlir::ad::reference::stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

/// Calls visit(position) for each index of `shape` in row-major order with its strided position.
template <class Visit>
static void walk(ArrayRef<int64_t> shape, int64_t offset, ArrayRef<int64_t> strides, Visit visit) {
  int64_t count = product(shape);
  Shape index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(offset);
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// Calls body with a value of the unsigned type that is as wide as an element.
template <class Body> static void withWidth(ElementType type, Body body) {
  switch (sizeInBytes(type)) {
  case 1:
    return body(uint8_t());
  case 2:
    return body(uint16_t());
  case 4:
    return body(uint32_t());
  default:
    return body(uint64_t());
  }
}

Tensor mlir::ad::reference::gather(const Tensor &input, ArrayRef<int64_t> shape, int64_t offset,
                                   ArrayRef<int64_t> strides) {
  Tensor result(input.getType(), shape);
  withWidth(input.getType(), [&](auto word) {
    using Word = decltype(word);
    const Word *source = input.data<Word>();
    Word *target = result.data<Word>();
    walk(shape, offset, strides, [&](int64_t position) { *target++ = source[position]; });
  });
  return result;
}

void mlir::ad::reference::scatter(Tensor &destination, const Tensor &input, int64_t offset,
                                  ArrayRef<int64_t> strides) {
  withWidth(input.getType(), [&](auto word) {
    using Word = decltype(word);
    const Word *source = input.data<Word>();
    Word *target = destination.data<Word>();
    walk(input.getShape(), offset, strides, [&](int64_t position) { target[position] = *source++; });
  });
}

Tensor mlir::ad::reference::broadcastTo(const Tensor &input, ArrayRef<int64_t> shape) {
  if (input.getShape() == shape)
    return input;
  Shape own = stridesOf(input.getShape()), strides(shape.size(), 0);
  size_t leading = shape.size() - own.size();
  for (size_t axis = 0; axis < own.size(); ++axis)
    if (input.getDim(axis) == shape[leading + axis])
      strides[leading + axis] = own[axis];
  return gather(input, shape, 0, strides);
}

Tensor mlir::ad::reference::transpose(const Tensor &input, ArrayRef<int64_t> permutation) {
  Shape own = stridesOf(input.getShape()), shape, strides;
  for (int64_t axis : permutation) {
    shape.push_back(input.getDim(axis));
    strides.push_back(own[axis]);
  }
  return gather(input, shape, 0, strides);
}

Tensor mlir::ad::reference::filled(const Tensor &scalar, ArrayRef<int64_t> shape) {
  return broadcastTo(scalar, shape);
}
