// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests: scalar loops outside, vectors with a masked remainder along the contiguous axis, several rows
// or vectors per iteration.

#ifndef ADJOINT_LIB_CODEGEN_CPU_LOOPS_LOOPNESTS_H
#define ADJOINT_LIB_CODEGEN_CPU_LOOPS_LOOPNESTS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class LoopNests : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// Computes the values that are invariant in a loop over the axis that follows those of the positions.
  LogicalResult hoistAlong(const Nest &nest, ArrayRef<Position> positions);
  LogicalResult emitNest(const Nest &nest, Store store);
  LogicalResult emitLoops(const Nest &nest, int64_t axis, int64_t laneAxis,
                          SmallVectorImpl<Position> &positions, UnitRange units, Store store);
  LogicalResult emitLaneLoop(const Nest &nest, Value lower, Value upper, ArrayRef<Position> positions,
                             Store store);

private:
  /// Vectors along the lane axis, which follows the axes of the rows.
  struct Vectors {
    int64_t count = 1; // at each row
    int64_t width;     // lanes
    Value active;      // lanes; null when all are
  };
  LogicalResult emitVectorsAt(const Nest &nest, ArrayRef<Position> rows, Value start, const Vectors &vectors,
                              Store store);
  FailureOr<Value> emitWholeVectors(const Nest &nest, ArrayRef<Position> rows, Value lower, Value upper,
                                    int64_t count, Store store);
  LogicalResult emitRemainder(const Nest &nest, ArrayRef<Position> rows, Value lower, Value upper,
                              Store store);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_LOOPS_LOOPNESTS_H
