// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernels of ColumnRuns. A warp copies the next steps of its runs into shared memory, whole lines at a
// time, while each of its threads combines the steps of one column that have arrived.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_COLUMNRUNEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_COLUMNRUNEMITTER_H

#include "../Generic/GPUKernelEmitter.h"
#include "ColumnRuns.h"

namespace mlir::ad::device {

class ColumnRunEmitter : public GPUKernelEmitter {
public:
  ColumnRunEmitter(KernelOp kernel, FunctionOpInterface function, const ColumnRuns &runs);

  int64_t minBlocksPerSM() const override { return 8; } // as many as shared memory allows on large chips
  LogicalResult emitNest(const Nest &nest, Store store) override;
  LogicalResult emitPartialNodes() override;

private:
  /// Chunks of a run in shared memory: one is combined, the others are on their way.
  static constexpr int64_t kStages = 4;
  /// Where a run begins and ends, in elements.
  static constexpr int64_t kWordBytes = 8, kBoundsBytes = 2 * kWordBytes;

  /// An operand in shared memory: a chunk of steps of each run of a warp.
  struct Staged {
    RunOperand operand;
    int64_t elementBytes, chunkBytes;
    int64_t pitch;  // bytes from one run to the next
    int64_t offset; // of the first run in the stage
    bool isAligned; // runs begin at multiples of the copies
    int64_t copies() const { return chunkBytes / kChunkBytes + !isAligned; } // of a chunk of a run
  };
  /// What a reduction stages.
  struct Stages {
    SmallVector<Staged> operands;
    int64_t steps;     // of a chunk
    int64_t bytes = 0; // of one stage of a warp
  };
  /// The chain of the thread: the steps [begin, end), the most that a thread of the warp has, and where the
  /// result is.
  struct Chain {
    linalg::GenericOp reduction;
    SmallVector<Index> loops;
    SmallVector<Value> start;
    Value begin, end, longest;
  };
  /// What a thread copies of each chunk, kChunkBytes at most.
  struct Piece {
    const Staged *staged;
    Value isThere;        // null: for each thread
    Value source, target; // of the first chunk in memory, and in a stage
    Value whole, rest;    // chunks that have all bytes, and bytes of the chunk after them
  };
  using ChainCode = function_ref<LogicalResult(Value number, Value isPresent)>;

  Stages planStages(linalg::GenericOp reduction);
  bool isAligned(const RunOperand &operand, int64_t elementBytes);
  int64_t bytesOfWarp(const Stages &stages) const;
  void allocate();

  Value isFirstOfChain();
  LogicalResult overChains(Value count, ChainCode code);
  FailureOr<Chain> chainAt(linalg::GenericOp reduction, const Position &position);
  FailureOr<SmallVector<Value>> emitNode(linalg::GenericOp reduction, const Position &position);
  FailureOr<SmallVector<Value>> emitWhole(linalg::GenericOp reduction, const Position &position);
  FailureOr<SmallVector<Value>> emitLeaf(const Chain &chain, Value begin, int64_t length, Value total);
  FailureOr<SmallVector<Value>> emitSteps(const Chain &chain, Value begin, Value end, Value total);

  FailureOr<SmallVector<Value>> emitChain(const Chain &chain);
  Value firstElement(const Chain &chain, const Staged &staged);
  LogicalResult describeRuns(const Chain &chain, Value first);
  SmallVector<Value> columnsInStage(const Stages &stages, Value first);
  void addPieces(const Staged &staged, SmallVectorImpl<Piece> &pieces);
  LogicalResult copyChunk(const Stages &stages, ArrayRef<Piece> pieces, Value chunk);
  int64_t unrollOf(const Stages &stages);
  FailureOr<SmallVector<Value>> combineChunk(const Chain &chain, const Stages &stages, Value chunk,
                                             Value hasArrived, ArrayRef<Value> inStage,
                                             ValueRange accumulators);
  FailureOr<SmallVector<Value>> combineSteps(const Chain &chain, const Stages &stages, Value first,
                                             ArrayRef<Value> addresses, Value lower, Value upper,
                                             int64_t unroll, ValueRange accumulators);
  Value stageAt(const Stages &stages, Value chunk);
  Value wide(Value index);
  Value addWide(Value pointer, Value bytes);
  std::pair<Value, Value> divide(Value number, int64_t by);

  const ColumnRuns runs;
  DenseMap<Operation *, Stages> stagesOf;
  int64_t warpBytes = 0;
  Value shared;                    // of the warp: where its runs begin and end, then its stages
  Value bundle, leaf, column, run; // of the thread in its warp
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_COLUMNRUNEMITTER_H
