// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests: scalar loops outside, vectors with a masked remainder along the contiguous axis, several rows
// or vectors per iteration.

#ifndef ADJOINT_LIB_CODEGEN_CPU_LOOPNESTS_H
#define ADJOINT_LIB_CODEGEN_CPU_LOOPNESTS_H

#include "CPUComponent.h"

namespace mlir::ad::cpu {

class LoopNests : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// Computes what a loop over the axis that follows those of the positions does not change.
  LogicalResult hoistAlong(const Nest &nest, ArrayRef<Position> positions);
  LogicalResult emitNest(const Nest &nest, Store store);
  LogicalResult emitLoops(const Nest &nest, int64_t axis, int64_t laneAxis,
                          SmallVectorImpl<Position> &positions, UnitRange units, Store store);
  LogicalResult emitLaneLoop(const Nest &nest, Value lower, Value upper, ArrayRef<Position> positions,
                             Store store);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_LOOPNESTS_H
