// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows over the thread blocks of a cluster (PTX ISA: thread block clusters, distributed shared memory). Each
// block reduces a segment of the row, and reads the values of the others in their shared memory.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_CLUSTEREXCHANGE_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_CLUSTEREXCHANGE_H

#include "RowComponent.h"

namespace mlir::ad::device {

class RowDistribution;

/// Shared memory of a block for the exchange.
constexpr int64_t kClusterBytes = 2 * sizeof(int64_t);

class ClusterExchange : public RowComponent {
public:
  ClusterExchange(RowEmitter &emitter, RowDistribution &distribution)
      : RowComponent(emitter), distribution(distribution) {}

  /// Allocates two slots in shared memory, and gives the launch a cluster for each row.
  void allocate(int64_t blocks);
  /// A grid-stride loop over rows, one for each cluster.
  LogicalResult emitLoop(Value count, function_ref<LogicalResult(Value)> emitRow);
  /// Joins the values of the blocks, which are nodes of the order's tree, adjacent ones first. All threads
  /// have the value of their block, and get the joined one.
  Value join(Operation *combiner, Value ofBlock);

  /// A barrier of the cluster: memory operations before it are visible to all its threads after it.
  void synchronize();

private:
  Value load(Value slot, int64_t rank, Type type);

  RowDistribution &distribution;
  Value slots;
  int64_t exchanges = 0; // so far
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_CLUSTEREXCHANGE_H
