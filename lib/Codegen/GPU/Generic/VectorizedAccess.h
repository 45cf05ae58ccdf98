// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Vectorized accesses: each thread computes contiguous elements with 16-byte loads and stores. The elements
// of a vector are scalars in registers; a vector is known by the indices that `consecutiveIndices` made.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_VECTORIZEDACCESS_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_VECTORIZEDACCESS_H

#include "GPUComponent.h"

namespace mlir::ad::device {

/// The last axis that is longer than one: elements along it are contiguous in memory.
int64_t contiguousAxis(ArrayRef<int64_t> shape);

class VectorizedAccess : public GPUComponent {
public:
  using GPUComponent::GPUComponent;

  /// The indices of `length` consecutive elements, of which the first is a multiple of the length.
  SmallVector<Value> consecutiveIndices(Value first, int64_t length);
  /// The elements of the longest vector along the nest's contiguous axis whose accesses have at most
  /// kAccessBytes.
  int64_t vectorLength(const Nest &nest, int64_t axis);
  /// Whether dynamic sizes allow vectors of that length; null when they always do.
  Value allowsVectors(int64_t length);

  /// The element of a tensor, from a vectorized access of a whole vector where that is possible; null where
  /// this component has nothing to add.
  FailureOr<Value> compute(Value tensor, const Position &position);
  /// Stores the values as one vector. Returns false, without code, if the positions are no vector in memory.
  bool storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values);
  /// Loads the element from a buffer that has the axes of the tensor from `firstAxis` on.
  Value loadFrom(const Buffer &buffer, int64_t firstAxis, Value tensor, const Position &position);

  /// A vector that starts at `first` and is contiguous in memory.
  SmallVector<Value> loadVector(const Buffer &buffer, const Position &first, int64_t length);
  void storeVector(const Buffer &buffer, const Position &first, ValueRange values);

private:
  struct Element {
    size_t vector = 0, number = 0;
  };
  std::optional<int64_t> vectorAxis(const Buffer &buffer, const Position &position);
  std::optional<int64_t> insertedAxis(tensor::InsertSliceOp insert, const Position &position);
  FailureOr<Value> computeInserted(tensor::InsertSliceOp insert, const Position &position, int64_t axis);
  FailureOr<SmallVector<Value>> insertedVector(tensor::InsertSliceOp insert, ArrayRef<Position> positions,
                                               int64_t axis);
  Value addressAt(const Buffer &buffer, const Position &first, int64_t offset);

  SmallVector<SmallVector<Value>> vectors; // indices of their elements
  DenseMap<Value, Element> elements;       // by index
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_VECTORIZEDACCESS_H
