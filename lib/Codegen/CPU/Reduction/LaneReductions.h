// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over the lanes of an order: each lane of a vector has a chain of its own, and a tree joins them.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEREDUCTIONS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class LaneReductions : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                               const Position &position);
  FailureOr<Value> laneAccumulators(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum, Value lower,
                                    Value upper);
  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper, int64_t lanes);
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
  FailureOr<Value> laneAccumulators(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum, Value lower,
                                    Value upper, Value wide, Value first);
  FailureOr<Value> laneChunkInMemory(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                     Value lower, Value upper, int64_t count);
  FailureOr<SmallVector<Value>> stepBelow(const Rest &rest, Value number, ArrayRef<Value> values, Step step);
  FailureOr<SmallVector<Value>> stepIfAny(const Rest &rest, Value number, ArrayRef<Value> values, Step step);
  Value lanesBelow(Value count, Value first);
  Value withoutAbsentLanes(Value sum, Value size, Value first);

  /// Stack memory for lanes, by element type and count, that a later sum may use: sums inside of each other
  /// need memory at the same time, others do not.
  llvm::DenseMap<std::pair<Type, int64_t>, SmallVector<Value>> unusedSlots;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_LANEREDUCTIONS_H
