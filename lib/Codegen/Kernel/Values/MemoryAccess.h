// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads and stores: scalar, contiguous, strided or gathered, with and without a mask.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_MEMORYACCESS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_MEMORYACCESS_H

#include "../Outputs/ElementStores.h"
#include "LaneValues.h"

namespace mlir::ad::codegen {

/// Elements with a stride up to this one are shuffled out of whole vectors; with larger strides they are
/// gathered.
inline constexpr int64_t kLongestStride = 8;

class MemoryAccess : public KernelComponent, public ElementStores {
public:
  MemoryAccess(KernelContext &context, LaneValues &laneValues)
      : KernelComponent(context), laneValues(laneValues) {}

  Value load(const Buffer &buffer, const Position &position);
  void store(const Buffer &buffer, const Position &position, Value value) override;
  Value linearIndex(const Buffer &buffer, const Position &position, int64_t &step, Value &vector);
  Value pointerAt(const Buffer &buffer, Value index);
  Value fullMask();

  /// The limit of the code being emitted. Code that reads all columns of short rows raises it to their
  /// number: the loads of all columns then use the same vectors.
  int64_t longestShuffledStride = kLongestStride;

private:
  /// The sum base + offset + step * lane; if `vector` is set, it holds what depends on the lane, and the step
  /// is 0.
  struct LinearSum {
    Value base, vector;
    int64_t offset = 0, step = 0;
  };
  void multiplyBySize(LinearSum &sum, const Buffer &buffer, int64_t axis);
  void addIndex(LinearSum &sum, const Index &index);
  Value loadReversed(const Buffer &buffer, Value base);
  Value loadStrided(const Buffer &buffer, Value base, int64_t step);

  LaneValues &laneValues;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_MEMORYACCESS_H
