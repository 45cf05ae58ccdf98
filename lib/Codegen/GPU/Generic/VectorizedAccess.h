// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Vectorized accesses: each thread computes contiguous elements with 16-byte loads and stores. The elements
// of a vector are scalars in registers; a vector is known by the indices that `consecutiveIndices` made.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_VECTORIZEDACCESS_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_VECTORIZEDACCESS_H

#include "GPUComponent.h"
#include "llvm/Support/SaveAndRestore.h"

namespace mlir::ad::device {

/// The last axis that is longer than one: elements along it are contiguous in memory.
int64_t contiguousAxis(ArrayRef<int64_t> shape);

class VectorizedAccess : public GPUComponent {
public:
  using GPUComponent::GPUComponent;

  /// The indices of `length` consecutive elements, of which the first is a multiple of the length.
  SmallVector<Value> consecutiveIndices(Value first, int64_t length);
  /// The positions of `length` elements in row-major order, of which the first has that number: a run, which
  /// may cross ends of rows. Buffers of the shape of the nest are accessed by vectors.
  SmallVector<Position> runPositions(const Nest &nest, Value first, int64_t length);
  /// The elements of the longest vector whose accesses have at most kAccessBytes.
  int64_t longestVector(const Nest &nest, int64_t axis);
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

  /// Code of a branch that is taken for one element, while it exists.
  class Branch {
  public:
    explicit Branch(VectorizedAccess &access) : inBranch(access.inBranch, true) {}

  private:
    llvm::SaveAndRestore<bool> inBranch;
  };

private:
  struct Element {
    size_t vector = 0, number = 0;
  };
  struct Vector {
    SmallVector<Value> indices;
    int64_t offset = 0; // from a multiple of the length
    bool isAligned() const { return offset % int64_t(indices.size()) == 0; }
  };
  struct Run {
    SmallVector<int64_t> shape;
    SmallVector<Position> positions;
    Value first; // the number of the first element
  };
  void countOn(Position &position, ArrayRef<int64_t> shape, int64_t axis);
  SmallVector<Position> positionsOfTwoRows(const Position &first, ArrayRef<int64_t> shape, int64_t length);
  std::optional<Element> findElement(Value index);
  size_t shiftedVector(size_t vector, int64_t distance);
  size_t addVector(ArrayRef<Value> indices, int64_t offset);
  std::optional<size_t> numberInRun(const Buffer &buffer, const Position &position) const;
  Value loadRun(const Buffer &buffer, Value tensor, size_t number);
  std::optional<int64_t> vectorAxis(const Buffer &buffer, const Position &position);
  std::optional<int64_t> insertedAxis(tensor::InsertSliceOp insert, const Position &position);
  FailureOr<Value> computeInserted(tensor::InsertSliceOp insert, const Position &position, int64_t axis);
  FailureOr<SmallVector<Value>> insertedVector(tensor::InsertSliceOp insert, ArrayRef<Position> positions,
                                               int64_t axis);
  Value linearIndex(const Buffer &buffer, const Position &position);
  Value addressAt(const Buffer &buffer, Value first, int64_t offset);
  SmallVector<Value> loadVectorAt(const Buffer &buffer, Value first, int64_t length);
  void storeVectorAt(const Buffer &buffer, Value first, ValueRange values);

  SmallVector<Vector> vectors;
  DenseMap<Value, Element> elements;                    // by index
  DenseMap<std::pair<size_t, int64_t>, size_t> shifted; // vectors at a distance from another one
  bool inBranch = false;
  std::optional<Run> run; // of the current iteration
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_VECTORIZEDACCESS_H
