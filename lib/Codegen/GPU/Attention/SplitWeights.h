// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The weights of attention of few queries: those of a leaf in shared memory, as they multiply values, and
// sums of those of a node in the canonical order of ad.reduce_sum.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLITWEIGHTS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLITWEIGHTS_H

#include "SplitKernel.h"

namespace mlir::ad::device {

class SplitWeights : public SplitKernel {
protected:
  using SplitKernel::SplitKernel;

  /// What is subtracted from the scores of each row of the tile, up to the chunk, to shared memory.
  void writeShifts(const Tile &tile, Value chunk);
  void writeWeights(const Tile &tile, const Part &leaf);
  /// Nodes that the threads of a block sum at once.
  static constexpr int64_t kNodesAtOnce = SplitShape::kThreads / SplitShape::kLanes;
  /// Sums the weights of some nodes, by their numbers among those of all rows, and stores maxima of chunks.
  void sumNodes(Value firstNode);

private:
  Value sumLane(Value scores, Value count, Value shift);
  Value joinLanes(Value sum);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLITWEIGHTS_H
