// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of one kernel for a GPU. This class covers every kernel, and the kernel classes derive from it: they
// override the loops over the iteration space. Each thread computes an element of the iteration space, or a
// warp computes a row and its sums over lanes. Loops are grid-stride loops: any grid computes the same bits.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUKERNELEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_GPUKERNELEMITTER_H

#include "../../Kernel/Outputs/InsertEmitter.h"
#include "../../Kernel/Values/ValueEvaluator.h"
#include "../Reduction/PartialTree.h"
#include "../Reduction/RowLoops.h"
#include "../Reduction/UnrolledChains.h"
#include "../Reduction/WarpReductions.h"
#include "GPUComponent.h"
#include "InsertAccess.h"
#include "ThreadMapping.h"
#include "VectorizedAccess.h"

namespace mlir::ad::device {

class GPUKernelEmitter : public KernelContext,
                         public ValueSource,
                         public ElementStores,
                         public StatementLoops {
public:
  GPUKernelEmitter(KernelOp kernel, FunctionOpInterface function);
  virtual ~GPUKernelEmitter() = default;

  /// Emits the body of the function without its terminator. Fails after a diagnostic if the kernel contains
  /// an operation that is not linalg.
  LogicalResult emit(Work toEmit = Work::all);

  /// Emits one of the two kernels of a divided reduction: its nodes, or the results from them.
  LogicalResult emitDivided(const Division &division, Work part);

  /// Blocks that a multiprocessor should have registers for at the same time: the target occupancy.
  virtual int64_t minBlocksPerSM() const { return 2; }
  /// The maximum number of registers of a thread; 0: as many as that occupancy leaves.
  virtual int64_t maxRegisters() const { return 0; }
  /// Whether elementary functions of neighbouring elements become vectors (GroupFunctions.h).
  virtual bool groupsFunctions() const { return true; }
  /// Whether threads divide many elements by one value (ShareReciprocals.h).
  virtual bool sharesReciprocals() const { return false; }

  //===- What a kernel class does in its own way --------------------------===//

  /// Emits loops over the nest, and `store` at its positions.
  virtual LogicalResult emitNest(const Nest &nest, Store store);
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

protected:
  LogicalResult bindArguments();
  /// Binds the arguments after those of tensors and scalars, which select a part of the work.
  virtual void bindRange(ValueRange arguments);
  virtual LogicalResult emitOutputs();
  LogicalResult emitOutput(Value output, const Buffer &destination);
  LogicalResult hoistInvariants(ValueRange outputs, const Nest &nest);
  virtual FailureOr<Value> compute(Value tensor, const Position &position);
  virtual FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                       const Position &position);
  virtual FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                     Value lower, Value upper, int64_t lanes) {
    return warpReductions.laneChunk(generic, loops, identity, lower, upper, lanes);
  }

private:
  //===- What the shared components see -----------------------------------===//

  FailureOr<SmallVector<Value>> evaluate(Value tensor, ArrayRef<Position> positions) override {
    return evaluator.evaluate(tensor, positions);
  }
  FailureOr<SmallVector<Value>> evaluateBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                             const IRMapping &known, ValueRange wanted) override {
    return evaluator.evaluateBody(generic, loops, known, wanted);
  }
  LogicalResult emitStatement(const StatementNest &nest, Store store) override {
    return emitNest(nest, store);
  }

  class Reductions final : public ReductionEmitter {
  public:
    template <class... Components>
    Reductions(GPUKernelEmitter &emitter, Components &...components)
        : ReductionEmitter(emitter, emitter, components...), emitter(emitter) {}
    using ReductionEmitter::reduceChunks;

  private:
    FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                 const Position &position) override {
      return emitter.reduceLanes(generic, loops, identity, position);
    }
    FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                               Value lower, Value upper, int64_t count) override {
      return emitter.laneChunk(generic, loops, identity, lower, upper, count);
    }
    FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp reduction, ArrayRef<Value> identities,
                                              ArrayRef<Position> positions, BlockCode block,
                                              int64_t blocksPerLeaf) override;
    FailureOr<SmallVector<Value>> wholeChain(linalg::GenericOp reduction, ArrayRef<SmallVector<Index>> loops,
                                             ArrayRef<Value> start, ArrayRef<Position> positions) override;

    GPUKernelEmitter &emitter;
  };

  class Evaluator final : public ValueEvaluator {
  public:
    template <class... Components>
    Evaluator(GPUKernelEmitter &emitter, Components &...components)
        : ValueEvaluator(emitter, components...), emitter(emitter) {}

  private:
    FailureOr<Value> compute(Value tensor, const Position &position) override {
      return emitter.compute(tensor, position);
    }

    GPUKernelEmitter &emitter;
  };

public:
  //===- Components -------------------------------------------------------===//

  using PerThread = ThreadMapping::PerThread;

  LaneValues laneValues{*this};
  MemoryAccess memoryAccess{*this, laneValues};
  AccessMaps maps{*this, laneValues};
  KernelArguments kernelArguments{*this, *this};
  ReductionLoops reductionLoops{*this, laneValues, kernelArguments};
  Hoisting hoisting{*this, *this, maps, reductionLoops};
  ChainSteps chainSteps{*this, *this, laneValues, reductionLoops};
  UnrolledChains chains{*this, hoisting, chainSteps, reductionLoops};
  PairwiseTree tree{*this};
  Reductions reductions{*this, laneValues, maps, reductionLoops, chains, tree};
  Evaluator evaluator{*this, laneValues, memoryAccess, maps, reductions};
  KernelOutputs kernelOutputs{*this, *this, *this};
  ScanEmitter scans{*this, *this, laneValues, maps, kernelArguments, reductionLoops, *this};
  InsertEmitter inserts{*this, *this, kernelArguments, hoisting, kernelOutputs, scans, *this, *this};

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
