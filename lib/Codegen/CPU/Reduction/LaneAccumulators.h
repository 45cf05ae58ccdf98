// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The accumulators of the lanes of an order, and the tree that joins them.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEACCUMULATORS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEACCUMULATORS_H

#include "../../Kernel/Reduction/ReductionLoops.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../../Kernel/Values/ValueSource.h"
#include "../CPUComponent.h"
#include "../Movement/Prefetcher.h"
#include "../StackMemory.h"

namespace mlir::ad::cpu {

class LaneAccumulators : public CPUComponent {
public:
  LaneAccumulators(CPUContext &context, ValueSource &evaluator, LaneValues &laneValues,
                   ReductionLoops &reductionLoops, Prefetcher &prefetcher, MemoryAccess &memoryAccess,
                   StackMemory &stackMemory)
      : CPUComponent(context), evaluator(evaluator), laneValues(laneValues), reductionLoops(reductionLoops),
        prefetcher(prefetcher), memoryAccess(memoryAccess), stackMemory(stackMemory) {}

  /// The lanes of one chunk, the elements [lower, upper); the last, partial row of lanes is masked.
  FailureOr<Value> reduceChunk(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum, Value lower,
                               Value upper);
  /// The same for the vector of lanes that begins with lane `first`, where the order has `wide` lanes.
  FailureOr<Value> reduceChunk(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum, Value lower,
                               Value upper, Value wide, Value first);
  /// The elements of a chunk after its last full row of lanes.
  struct Rest {
    Value at, count;  // the first of them, and how many there are
    Value first = {}; // number of the first lane; null for 0
  };
  using Step = llvm::function_ref<FailureOr<SmallVector<Value>>(Value at, ArrayRef<Value> values)>;
  FailureOr<SmallVector<Value>> overRest(const Rest &rest, SmallVector<Value> values, Step step);
  Value halve(Value sum, llvm::function_ref<Value(Value, Value)> join, int64_t minLanes);
  Value joinAllLanes(Value sum, llvm::function_ref<Value(Value, Value)> join);

private:
  FailureOr<Value> addVector(linalg::GenericOp generic, ArrayRef<Index> loops, Value at, Value sum);
  FailureOr<SmallVector<Value>> stepBelow(const Rest &rest, Value number, ArrayRef<Value> values, Step step);
  using Lanes = llvm::function_ref<FailureOr<SmallVector<Value>>()>;
  FailureOr<SmallVector<Value>> ifAny(const Rest &rest, Value number, ArrayRef<Value> values, Lanes then);
  FailureOr<SmallVector<Value>> stepInLoop(const Rest &rest, ArrayRef<Value> values, int64_t width,
                                           Step step);
  void storeLanes(ArrayRef<Buffer> memory, ArrayRef<Value> values, Value lane);
  SmallVector<Value> loadLanes(ArrayRef<Buffer> memory, Value lane, int64_t count);
  SmallVector<Value> registersAt(ArrayRef<Value> values, int64_t lane, int64_t width);
  void replaceRegisters(MutableArrayRef<Value> values, ArrayRef<Value> registers, int64_t lane);
  Value lanesBelow(Value count, Value first);
  Value withoutAbsentLanes(Value sum, Value size, Value first);

  ValueSource &evaluator;
  LaneValues &laneValues;
  ReductionLoops &reductionLoops;
  Prefetcher &prefetcher;
  MemoryAccess &memoryAccess;
  StackMemory &stackMemory;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEACCUMULATORS_H
