// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The weights of attention of few queries: those of a leaf in shared memory, as they multiply values, and
// sums of those of a node in the canonical order of ad.reduce_sum.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITWEIGHTS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITWEIGHTS_H

#include "SplitKernel.h"

namespace mlir::ad::device {

class SplitWeights : public SplitKernel {
protected:
  using SplitKernel::SplitKernel;

  /// The largest score of each row of the tile, up to the chunk, to shared memory.
  void writeMaxima(const Tile &tile, Value chunk);
  /// Starts to copy the scores of a leaf to shared memory, where weights replace them. They are rounded later
  /// if leaves sum them.
  void copyScores(const Tile &tile, const Part &leaf);
  void writeWeights(const Part &leaf);
  void roundWeights();
  /// Sums the weights of a leaf, or of a node by its number among those of all rows, and stores the maximum
  /// of a chunk.
  void sumLeaf(const Tile &tile, const Part &leaf, Value number);
  void sumNode(Value number);

private:
  Value rowInTile(const Tile &tile, Value row);
  void forEachRow(function_ref<void(Value row, ArrayRef<Value> keys, ArrayRef<Value> places)> body);
  /// Weights up to a key (i32) to shared memory.
  void writeNode(Value scores, Value end, Value shift);
  /// The last key of so many, rounded up to a multiple of all lanes (i32).
  Value endOfLanes(Value count);
  /// The sum of weights in shared memory, from one that is (i32).
  Value sumLanes(Value first, int64_t byte, Value end);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITWEIGHTS_H
