// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Row kernels on a GPU: reductions, norms, softmax and their derivatives. RowDistribution
// distributes rows over threads. Rows that fit into the registers of a group are read once (RowRegisters),
// and so are rows that fit into those of a thread block or of a cluster of blocks (TermExchange,
// ClusterExchange), or into the shared memory of a block (SharedRowCache).

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWEMITTER_H

#include "ChunkSums.h"
#include "ClusterExchange.h"
#include "LaneChains.h"
#include "RowDistribution.h"
#include "RowRegisters.h"
#include "SharedRowCache.h"
#include "TermExchange.h"

namespace mlir::ad::device {

class RowEmitter : public GPUKernelEmitter {
public:
  RowEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Rows &rows, const BlockLimits &limits);

  int64_t minBlocksPerSM() const override;
  bool groupsFunctions() const override;
  bool sharesReciprocals() const override { return true; }
  const Rows rows;

  void synchronizeRowThreads() override;
  Value isRowLeader() override { return distribution.isLeader(); }
  LogicalResult emitAlongRow(Value length, StoreAt storeAt) override;
  LogicalResult emitPartialNodes() override;
  LogicalResult emitNodesOverLanes(Value count, function_ref<LogicalResult(Value)> emitNode) override {
    return distribution.emitLoopOverGroups(count, emitNode);
  }

private:
  LogicalResult emitOutputs() override;
  LogicalResult emitRowLoop(ValueRange outputs, const RowTiling &tiling);
  void bind(const RowTiling &tiling);
  FailureOr<Value> compute(Value tensor, const Position &position) override;
  FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                               const Position &position) override;
  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper, int64_t lanes) override;

  RowDistribution distribution{*this};
  RowRegisters registers{*this, distribution};
  ClusterExchange cluster{*this, distribution};
  TermExchange terms;
  LaneChains chains{*this, distribution, registers, terms};
  ChunkSums chunkSums{*this, distribution, chains, cluster};
  SharedRowCache cache;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWEMITTER_H
