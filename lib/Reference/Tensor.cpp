// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors of the reference interpreter: element types, copies from and to the runtime, constants.

#include "adjoint/Reference/Tensor.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "adjoint/Support/Buffer.h"
#include "mlir/IR/BuiltinTypes.h"

#include <utility>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

std::optional<ElementType> mlir::ad::reference::elementTypeOf(Type type) {
  return isa<IndexType>(type) ? ElementType::I64 : numerics::elementTypeOf(type);
}

int64_t mlir::ad::reference::product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// A size that 64 bits or the memory cannot hold is a lack of memory.
static size_t bytesOf(ElementType type, ArrayRef<int64_t> shape) {
  int64_t bytes =
      adrt::byteSize(static_cast<int32_t>(type), static_cast<int32_t>(shape.size()), shape.data());
  if (bytes < 0 || !adrt::fitsMemory(bytes))
    throw std::bad_alloc();
  return static_cast<size_t>(bytes);
}

Tensor::Tensor(ElementType type, ArrayRef<int64_t> shape)
    : type(type), shape(shape),
      storage(std::make_shared<std::vector<char, LimitedAllocator<char>>>(bytesOf(type, shape))) {}

Tensor Tensor::copyOf(const adrt_tensor &tensor) {
  Tensor result(static_cast<ElementType>(tensor.type), ArrayRef<int64_t>(tensor.shape, tensor.rank));
  if (int64_t size = result.getNumBytes())
    std::memcpy(result.bytes(), tensor.data, size);
  return result;
}

/// Writes the low bytes of an element, i1 as one byte.
static void store(char *destination, const APInt &bits, int64_t size) {
  uint64_t value = bits.getZExtValue();
  std::memcpy(destination, &value, size);
}

Tensor Tensor::constant(ElementType type, DenseElementsAttr attribute) {
  Tensor result(type, attribute.getType().getShape());
  int64_t size = sizeInBytes(type);
  char *position = result.bytes();
  if (isa<FloatType>(attribute.getElementType())) {
    for (const APFloat &value : attribute.getValues<APFloat>())
      store(std::exchange(position, position + size), value.bitcastToAPInt(), size);
    return result;
  }
  for (const APInt &value : attribute.getValues<APInt>())
    store(std::exchange(position, position + size), value, size);
  return result;
}

adrt_tensor Tensor::view() const {
  return {const_cast<char *>(bytes()), shape.data(), static_cast<int32_t>(shape.size()),
          static_cast<int32_t>(type)};
}

Tensor Tensor::reshaped(ArrayRef<int64_t> newShape) const {
  assert(product(newShape) == getNumElements() && "a reshape keeps the number of elements");
  Tensor result = *this;
  result.shape.assign(newShape.begin(), newShape.end());
  return result;
}
