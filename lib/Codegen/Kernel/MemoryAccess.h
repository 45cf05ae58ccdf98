// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads and stores: scalar, contiguous, strided or gathered, with and without a mask.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_MEMORYACCESS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_MEMORYACCESS_H

#include "KernelComponent.h"

namespace mlir::ad::codegen {

/// Elements at most so far apart are shuffled out of whole vectors; farther ones are gathered.
inline constexpr int64_t kLongestStride = 8;

class MemoryAccess : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  Value load(const Buffer &buffer, const Position &position);
  void store(const Buffer &buffer, const Position &position, Value value);
  Value linearIndex(const Buffer &buffer, const Position &position, int64_t &step, Value &vector);
  Value pointerAt(const Buffer &buffer, Value index);
  Value movable(Value value);
  Value fullMask();
  Value fromMemory(Value value, Type element);
  Value toMemory(Value value);

  /// Elements at most so far apart are shuffled out of whole vectors here. Code that reads all columns of
  /// short rows raises it to their number: the loads of all columns then use the same vectors.
  int64_t longestShuffledStride = kLongestStride;

private:
  Value loadReversed(const Buffer &buffer, Value base);
  Value loadStrided(const Buffer &buffer, Value base, int64_t step);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_MEMORYACCESS_H
