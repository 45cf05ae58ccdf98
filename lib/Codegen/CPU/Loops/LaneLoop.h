// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The loop along the contiguous axis of a nest, in vectors.

#ifndef ADJOINT_LIB_CODEGEN_CPU_LOOPS_LANELOOP_H
#define ADJOINT_LIB_CODEGEN_CPU_LOOPS_LANELOOP_H

#include "../../Kernel/Values/Hoisting.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../Bytes/ByteDotProducts.h"
#include "../CPUComponent.h"
#include "LineAlignment.h"

namespace mlir::ad::cpu {

class LaneLoop : public CPUComponent {
public:
  LaneLoop(CPUContext &context, LaneValues &laneValues, Hoisting &hoisting, LineAlignment &lineAlignment,
           ByteDotProducts &byteDotProducts)
      : CPUComponent(context), laneValues(laneValues), hoisting(hoisting), lineAlignment(lineAlignment),
        byteDotProducts(byteDotProducts) {}

  /// Vectors over [lower, upper) of the axis that follows those of the positions.
  LogicalResult emitLaneLoop(const CPUNest &nest, Value lower, Value upper, ArrayRef<Position> positions,
                             Store store);

private:
  /// Vectors along the lane axis, which follows the axes of the rows.
  struct Vectors {
    int64_t count = 1; // at each row
    int64_t width;     // lanes
    Value active;      // lanes; null when all are
  };
  /// Computes the values that are invariant in a loop over the axis that follows those of the positions.
  LogicalResult hoistAlong(const CPUNest &nest, ArrayRef<Position> positions);
  LogicalResult emitVectorsAt(const CPUNest &nest, ArrayRef<Position> rows, Value start,
                              const Vectors &vectors, Store store);
  FailureOr<Value> emitWholeVectors(const CPUNest &nest, ArrayRef<Position> rows, Value lower, Value upper,
                                    int64_t count, Store store);
  LogicalResult emitRemainder(const CPUNest &nest, ArrayRef<Position> rows, Value lower, Value upper,
                              Store store);

  LaneValues &laneValues;
  Hoisting &hoisting;
  LineAlignment &lineAlignment;
  ByteDotProducts &byteDotProducts;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_LOOPS_LANELOOP_H
