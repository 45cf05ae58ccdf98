// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reduces a chunk over the lanes of the order (docs/numerics.md): each lane sums its elements in ascending
// order, then a halving tree joins the lanes. In a warp each thread has one or more lanes, and threads join
// them by shuffles. A single thread sums the lanes one after the other. It visits them in bit-reversed order,
// so that joining neighbours pairwise gives the same tree.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_WARPREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_WARPREDUCTIONS_H

#include "../Generic/GPUComponent.h"

namespace mlir::ad::device {

/// Up to so many elements are summed over lanes by one thread: fewer than those of a warp would have work.
constexpr int64_t kMaxShortRow = 16;

class WarpReductions : public GPUComponent {
public:
  using GPUComponent::GPUComponent;

  /// The sum of one chunk, the elements [lower, upper), by the warp or by each of its threads.
  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper, int64_t lanes);
  /// The sum of the lane with that number. A lane without an element takes part in no join: it holds -0,
  /// which every sum leaves unchanged.
  Value padEmptyLane(linalg::GenericOp generic, Value sum, Value number, Value size, int64_t lanes);
  /// The value of the thread whose number in the warp differs in the bit `distance`.
  Value shuffle(Value value, int64_t distance);

private:
  FailureOr<Value> chunkOfWarp(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value lower,
                               Value upper, int64_t lanes);
  FailureOr<Value> shortChunkOfThread(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                      Value lower, int64_t count);
  FailureOr<Value> chunkOfThread(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                 Value lower, Value upper, int64_t lanes);
  FailureOr<Value> laneChain(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value lower,
                             Value upper, Value lane, int64_t lanes);
  Value reverseBits(Value number, int64_t count);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_WARPREDUCTIONS_H
