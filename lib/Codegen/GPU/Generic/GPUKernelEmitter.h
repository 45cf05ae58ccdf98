// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of one kernel for a GPU. This class covers every kernel, and the kernel classes derive from it: they
// override the loops over the iteration space. Each thread computes an element of the iteration space, or a
// warp computes a row and its sums over lanes. Loops are grid-stride loops: any grid computes the same bits.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUKERNELEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUKERNELEMITTER_H

#include "GPUComponent.h"
#include "InsertAccess.h"
#include "PartialTree.h"
#include "RowLoops.h"
#include "ThreadMapping.h"
#include "VectorizedAccess.h"
#include "WarpReductions.h"

namespace mlir::ad::device {

class GPUKernelEmitter : public KernelEmitter {
public:
  GPUKernelEmitter(KernelOp kernel, FunctionOpInterface function);

  /// Emits one of the two kernels of a divided reduction: its nodes, or the results from them.
  LogicalResult emitDivided(const Division &division, Work part);

  /// Blocks that a multiprocessor should have registers for at the same time: the target occupancy.
  virtual int64_t minBlocksPerSM() const { return 2; }
  /// The maximum number of registers of a thread; 0: as many as that occupancy leaves.
  virtual int64_t maxRegisters() const { return 0; }

  //===- What a kernel class does in its own way --------------------------===//

  LogicalResult emitNest(const Nest &nest, Store store) override;
  void store(const Buffer &buffer, const Position &position, Value value) override;
  void storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) override;
  /// A barrier of the threads that share a row.
  virtual void synchronizeRowThreads() { mapping.synchronizeWarp(); }
  /// Whether this thread stores the values that all threads of the row have computed.
  virtual Value isRowLeader();
  /// Distributes the elements of a row over its threads.
  using StoreAt = function_ref<LogicalResult(ArrayRef<Value> indices)>;
  virtual LogicalResult emitAlongRow(Value length, StoreAt storeAt);
  /// The first kernel of a divided reduction, and its loop over nodes whose sums go over lanes.
  virtual LogicalResult emitPartialNodes() { return partialTree.emitNodes(); }
  virtual LogicalResult emitNodesOverLanes(Value count, function_ref<LogicalResult(Value)> emitNode);

  //===- Control flow -----------------------------------------------------===//

  LogicalResult emitIf(Value condition, function_ref<LogicalResult()> then,
                       function_ref<LogicalResult()> otherwise = nullptr);
  /// A condition of null always holds.
  LogicalResult emitIfAllowed(Value allowed, function_ref<LogicalResult()> then,
                              function_ref<LogicalResult()> otherwise);

protected:
  void bindRange(ValueRange arguments) override;
  LogicalResult emitOutputs() override;
  LogicalResult emitOutput(Value output, const Buffer &destination) override;
  LogicalResult hoistInvariants(ValueRange outputs, const Nest &nest);
  FailureOr<Value> compute(Value tensor, const Position &position) override;
  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper, int64_t lanes) override {
    return warpReductions.laneChunk(generic, loops, identity, lower, upper, lanes);
  }
  FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp reduction, ArrayRef<Value> identities,
                                            ArrayRef<Position> positions, BlockCode block,
                                            int64_t blocksPerLeaf) override;
  FailureOr<SmallVector<Value>> wholeChain(linalg::GenericOp reduction, ArrayRef<SmallVector<Index>> loops,
                                           ArrayRef<Value> start, ArrayRef<Position> positions) override;
  int64_t longestReduction() const override { return partialTree.maxElements; }

public:
  //===- Components -------------------------------------------------------===//

  using PerThread = ThreadMapping::PerThread;

  LaunchShape launchShape;
  ThreadMapping mapping{*this};
  WarpReductions warpReductions{*this};
  RowLoops rowLoops{*this};
  PartialTree partialTree{*this};
  InsertAccess insertAccess{*this};
  VectorizedAccess vectorized{*this};
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUKERNELEMITTER_H
