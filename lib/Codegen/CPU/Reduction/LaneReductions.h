// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chunks of reductions over the lanes of an order: each lane of a vector has a chain of its own, and a tree
// joins them.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEREDUCTIONS_H

#include "../../Kernel/Values/Hoisting.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../StackMemory.h"
#include "LaneAccumulators.h"
#include "MinMaxReduction.h"

namespace mlir::ad::cpu {

class LaneReductions : public CPUComponent {
public:
  LaneReductions(CPUContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess, Hoisting &hoisting,
                 StackMemory &stackMemory, LaneAccumulators &laneAccumulators, MinMaxReduction &minMax)
      : CPUComponent(context), laneValues(laneValues), memoryAccess(memoryAccess), hoisting(hoisting),
        stackMemory(stackMemory), laneAccumulators(laneAccumulators), minMax(minMax) {}

  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper, int64_t lanes);

private:
  FailureOr<Value> laneChunkInMemory(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                     Value lower, Value upper, int64_t count);

  /// Stack memory for lanes, by element type and count, that a later sum may use: sums inside of each other
  /// need memory at the same time, others do not.
  llvm::DenseMap<std::pair<Type, int64_t>, SmallVector<Value>> unusedSlots;

  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  Hoisting &hoisting;
  StackMemory &stackMemory;
  LaneAccumulators &laneAccumulators;
  MinMaxReduction &minMax;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEREDUCTIONS_H
