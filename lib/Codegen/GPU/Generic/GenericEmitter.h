// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of one kernel for a GPU, of the class that covers every kernel: the emitter of `ad-emit-cpu` without
// vectors, which takes what a kernel computes from its definition, shared among the threads of a grid. A
// thread takes elements of the iteration space, or a warp takes rows, whose sums over lanes go by the lanes
// of the order: thread t has those that are t modulo the threads of a warp. Any grid computes the same bits.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_GENERICEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_GENERICEMITTER_H

#include "../../Kernel/KernelEmitter.h"
#include "Division.h"
#include "adjoint/Codegen/Kernel/Grid.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad::device {

using namespace codegen;

/// How a kernel is launched: the parameters of #ad.launch_config, which documents them.
struct LaunchShape {
  MappingLevel level = MappingLevel::thread;
  int64_t result = 0, axes = 0;
  int64_t gridSize = 0;
  int64_t persistentBlocks = 0;
  int64_t clusterSize = 1;
  int64_t threadsPerBlock = kBlockThreads;
  int64_t dynamicSharedBytes = 0;
  SmallVector<TensorMapAttr> tensorMaps = {};
  int64_t elements = 1;
  int64_t threadsPerElement = 1;
  SmallVector<int64_t> tile = {};
};

class GenericEmitter : public KernelEmitter {
public:
  GenericEmitter(KernelOp kernel, FunctionOpInterface function);

  /// Emits one of the two functions of a divided reduction: its nodes, or the kernel from them.
  LogicalResult emitDivided(const Division &divided, Work part);

  const LaunchShape &getLaunchShape() const { return launchShape; }
  /// Blocks that a multiprocessor should have registers for at the same time.
  virtual int64_t minBlocksPerSM() const { return 2; }
  /// The most registers of a thread; 0: as many as that leaves.
  virtual int64_t maxRegisters() const { return 0; }

protected:
  // --- GenericEmitter.cpp: who takes what
  void bindRange(ValueRange arguments) override;
  LogicalResult emitRoots() override;
  LogicalResult emitRoot(Value root, const Buffer &destination) override;
  LogicalResult emitNest(const Nest &nest, Store store) override;
  void store(const Buffer &buffer, const Position &position, Value value) override;
  LogicalResult emitRows(ValueRange roots, unsigned space);
  LogicalResult emitRow(ValueRange roots, const Nest &space, const Position &row, bool spreads);
  LogicalResult emitSummedElements(ValueRange roots, const Nest &space);
  Value elementCount(ValueRange sizes);
  Position positionOfElement(Value number, ValueRange sizes);
  LogicalResult hoistEverywhere(ValueRange roots, const Nest &nest);
  void synchronizeWarp();
  void synchronizeBlock();
  LogicalResult emitIf(Value condition, function_ref<LogicalResult()> then,
                       function_ref<LogicalResult()> otherwise = nullptr);
  /// Those who share a row: what they do before comes before what they do behind, and which one stores what
  /// all have computed.
  virtual void synchronizeTakers() { synchronizeWarp(); }
  virtual Value isFirstTaker();
  /// Shares the elements of a row among them, some neighbours at a time.
  using StoreAt = function_ref<LogicalResult(ArrayRef<Value> indices)>;
  virtual LogicalResult emitAlong(Value length, StoreAt storeAt);

  // --- Lanes.cpp: sums over lanes, by a warp or by one thread
  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper, int64_t lanes) override;
  FailureOr<Value> chunkOfWarp(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value lower,
                               Value upper, int64_t lanes);
  FailureOr<Value> chunkOfThread(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                 Value lower, Value upper, int64_t lanes);
  FailureOr<Value> laneChain(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value lower,
                             Value upper, Value lane, int64_t lanes);
  Value keptByJoins(linalg::GenericOp generic, Value sum, Value number, Value size, int64_t lanes);
  Value reverseBits(Value number, int64_t count);
  Value shuffle(Value value, int64_t distance);

  // --- Nodes.cpp: reductions that the grid shares
  /// A reduction, cut into nodes of its tree.
  struct Nodes {
    Value length, total, count, number; // of elements and of nodes, and the one that is being emitted
    SmallVector<Buffer> buffers;        // [number, place in the result], one for each accumulator
  };
  /// Lays out the nodes of all reductions in `memory`, null where only their sizes count; returns the bytes.
  Value placeNodes(Value memory, Value leaves);
  virtual LogicalResult emitNodes();
  /// Code in which the threads that share lanes take one of `count` nodes together.
  virtual LogicalResult emitNodesInLanes(Value count, function_ref<LogicalResult(Value)> emitNode);
  LogicalResult emitNode(linalg::GenericOp reduction, Value number, ValueRange sizes);
  LogicalResult emitJoin();
  SmallVector<Value> absentNodes(linalg::GenericOp reduction, ArrayRef<Value> identities);
  SmallVector<Value> joinParts(linalg::GenericOp reduction, ValueRange left, ValueRange right);
  SmallVector<Value> nearestNodes(linalg::GenericOp reduction, const Position &position, Value number,
                                  ValueRange absent);
  SmallVector<Value> joinWarp(linalg::GenericOp reduction, SmallVector<Value> parts);
  FailureOr<SmallVector<Value>> joinNodes(linalg::GenericOp reduction, ArrayRef<Value> identities,
                                          const Position &position);
  FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp reduction, ArrayRef<Value> identities,
                                            ArrayRef<Position> positions, BlockCode block,
                                            int64_t blocksTogether) override;
  FailureOr<SmallVector<Value>> wholeChain(linalg::GenericOp reduction, ArrayRef<SmallVector<Index>> loops,
                                           ArrayRef<Value> start, ArrayRef<Position> positions) override;

  FailureOr<SmallVector<Value>> steadyChain(linalg::GenericOp reduction, ArrayRef<Index> loops,
                                            ArrayRef<Value> start, Value lower, Value upper);
  FailureOr<SmallVector<Value>> chainInSteps(linalg::GenericOp reduction, ArrayRef<Index> loops,
                                             ArrayRef<Value> start, Value lower, Value upper, int64_t steps);
  int64_t longestReduction() const override { return longest; }

  // --- Insert.cpp: slices inserted into a tensor, element by element
  FailureOr<Value> compute(Value tensor, const Position &position) override;
  /// The place in the slice, and whether that has it.
  std::pair<Position, Value> placeInSlice(tensor::InsertSliceOp insert, const Position &position);
  FailureOr<Value> computeInserted(tensor::InsertSliceOp insert, const Position &position);

  /// The code of single threads for a while, in which those of a warp work on different elements.
  class Spread {
  public:
    explicit Spread(GenericEmitter &emitter) : emitter(emitter), before(emitter.spread) {
      emitter.spread = true;
    }
    ~Spread() { emitter.spread = before; }

  private:
    GenericEmitter &emitter;
    bool before;
  };

  LaunchShape launchShape;
  Division division; // of the function that is being emitted; without reductions, it computes all
  DenseMap<Operation *, Nodes> nodes;
  Value nodeMemory, leavesOfNode;
  int64_t longest = std::numeric_limits<int64_t>::max(); // of the reductions whose length only the run knows
  Value inBlock, blockThreads; // number of the thread in its block, and how many there are
  Value block, blocks;         // number of the block in the grid, and how many there are
  Value thread, threads;       // of the grid: number and count
  Value warp, warps;           // the same of warps
  Value lane;                  // of the thread in its warp
  bool spread = false;         // code of a thread; otherwise all of a warp compute the same values
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_GENERICEMITTER_H
