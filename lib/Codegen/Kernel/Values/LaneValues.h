// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Vectors of the lanes that code is being emitted for: a scalar in every lane, the numbers of the lanes, an
// index in each lane.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_LANEVALUES_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_LANEVALUES_H

#include "../KernelComponent.h"

namespace mlir::ad::codegen {

class LaneValues : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  Value laneNumbers();
  Value laneVector(const Index &index);
  Value splat(Value scalar, int64_t lanes);
  /// Which lanes have numbers below `count`.
  Value lanesBelow(Value count);

private:
  DenseMap<int64_t, Value> laneCounts; // 0, 1, 2, … by number of lanes, in the entry block
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_LANEVALUES_H
