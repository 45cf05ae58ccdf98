// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The value that the reference interpreter computes with: a dense row-major tensor. A scalar is a tensor of
// rank 0, and `index` is i64.

#ifndef ADJOINT_REFERENCE_TENSOR_H
#define ADJOINT_REFERENCE_TENSOR_H

#include "adjoint/Numerics/ElementType.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/MemoryLimit.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

#include <cassert>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <vector>

namespace mlir::ad::reference {

using numerics::ElementType;
using numerics::sizeInBytes;

/// The element type of a tensor, of an integer or float scalar or of `index`; none when we have no such
/// values.
std::optional<ElementType> elementTypeOf(Type type);
int64_t product(ArrayRef<int64_t> shape);

/// Memory that counts towards the limit of MemoryLimit.h.
template <class T> struct LimitedAllocator {
  using value_type = T;
  /// Throws std::bad_alloc beyond the limit too.
  T *allocate(size_t count) {
    if (!adrt::takeMemory(static_cast<int64_t>(count * sizeof(T))))
      throw std::bad_alloc();
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T *memory, size_t count) {
    std::allocator<T>().deallocate(memory, count);
    adrt::giveMemory(static_cast<int64_t>(count * sizeof(T)));
  }
  friend bool operator==(LimitedAllocator, LimitedAllocator) { return true; }
  friend bool operator!=(LimitedAllocator, LimitedAllocator) { return false; }
};

/// Copies share the elements. Whoever creates a tensor fills it before handing it on; from then on it is
/// constant.
class Tensor {
public:
  Tensor() = default;
  /// All bytes zero. Throws std::bad_alloc if there is not enough memory, or the size wraps.
  Tensor(ElementType type, ArrayRef<int64_t> shape);
  /// A copy of what the runtime passes.
  static Tensor copyOf(const adrt_tensor &tensor);
  /// The elements of a dense attribute of static shape.
  static Tensor constant(ElementType type, DenseElementsAttr attribute);
  template <class T> static Tensor scalar(ElementType type, T value) {
    Tensor result(type, {});
    *result.data<T>() = value;
    return result;
  }
  static Tensor index(int64_t value) { return scalar<int64_t>(ElementType::I64, value); }

  /// What the runtime sees; valid as long as this tensor.
  adrt_tensor view() const;

  ElementType getType() const { return type; }
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  int64_t getDim(int64_t axis) const { return shape[axis]; }
  int64_t getNumElements() const { return product(shape); }
  int64_t getNumBytes() const { return getNumElements() * sizeInBytes(type); }

  char *bytes() { return storage->data(); }
  const char *bytes() const { return storage->data(); }
  template <class T> T *data() {
    assert(static_cast<int64_t>(sizeof(T)) == sizeInBytes(type) && "elements have another size");
    return reinterpret_cast<T *>(storage->data());
  }
  template <class T> const T *data() const { return const_cast<Tensor *>(this)->data<T>(); }
  /// The memory of the elements. Copies of a tensor, and its reshapes, have the same.
  std::shared_ptr<const void> getStorage() const { return storage; }
  /// The one element of an i64 scalar.
  int64_t asIndex() const { return *data<int64_t>(); }

  /// The same elements under another shape with as many elements.
  Tensor reshaped(ArrayRef<int64_t> newShape) const;

private:
  ElementType type = ElementType::F32;
  SmallVector<int64_t, 4> shape;
  std::shared_ptr<std::vector<char, LimitedAllocator<char>>> storage;
};

} // namespace mlir::ad::reference

#endif // ADJOINT_REFERENCE_TENSOR_H
