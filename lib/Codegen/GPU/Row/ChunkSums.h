// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums of a long row by a thread block: each group sums a chunk of the order, the block joins the sums of
// kChunksPerPass chunks in shared memory, and a pairwise tree joins these passes.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_CHUNKSUMS_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_CHUNKSUMS_H

#include "RowComponent.h"

namespace mlir::ad::device {

class ClusterExchange;
class LaneChains;
class RowDistribution;

/// Chunks whose sums a block has in shared memory at the same time; a power of two.
constexpr int64_t kChunksPerPass = 256;
constexpr int64_t kSumBytes = kChunksPerPass * sizeof(int64_t);

class ChunkSums : public RowComponent {
public:
  ChunkSums(RowEmitter &emitter, RowDistribution &distribution, LaneChains &chains, ClusterExchange &cluster)
      : RowComponent(emitter), distribution(distribution), chains(chains), cluster(cluster) {}

  void allocate();
  /// A whole reduction, whose operands the block has computed as far as they do not depend on its loop.
  FailureOr<Value> reduce(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity);

private:
  FailureOr<Value> sumPass(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value lower,
                           Value upper, int64_t maxChunks);
  LogicalResult sumChunk(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value number,
                         UnitRange range, Value count);
  void joinSums(Operation *join, Value count, int64_t maxCount, Type type);
  Value load(Value number, Type type);
  void store(Value number, Value sum);
  Value address(Value number, Type type);

  RowDistribution &distribution;
  LaneChains &chains;
  ClusterExchange &cluster;
  Value sums; // in shared memory
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_CHUNKSUMS_H
