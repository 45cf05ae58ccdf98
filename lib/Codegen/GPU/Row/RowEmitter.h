// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows on a GPU: reductions, norms and their derivatives. A group of threads takes a row, several groups a
// warp; long rows are taken by whole blocks, whose groups have a chunk of the sum each. A thread has runs of
// neighbouring lanes of the order, so that it reads 16 bytes at once and sums each lane as it is written.
// Rows that fit into the registers of a group are read once, and so are those that fit into shared memory,
// of which a block takes one.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWEMITTER_H

#include "../Elementwise/RunEmitter.h"
#include "RowMatch.h"

namespace mlir::ad::device {

/// Of a sum, whose results a block has in shared memory at once; a power of two.
constexpr int64_t kChunksTogether = 256;

class RowEmitter : public RunEmitter {
public:
  RowEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Rows &rows, int64_t sharedBytes)
      : RunEmitter(kernel, function), rows(rows), mostShared(sharedBytes) {}

  int64_t minBlocksPerSM() const override;

private:
  /// How threads share a row.
  struct Share {
    int64_t run;     // neighbouring lanes of a thread
    int64_t threads; // of a group
    int64_t runs;    // of a thread, until the group has been at every lane
    bool keeps;      // all of the row in registers
    bool brings;     // what several passes need of it to shared memory
    int64_t stripe() const { return run * threads * runs; }
  };

  // --- RowEmitter.cpp: who takes which row
  LogicalResult emitRoots() override;
  LogicalResult emitShared(ValueRange roots, const Share &chosen);
  void shareRows(const Share &chosen);
  LogicalResult emitRowsOfGroups(Value count, function_ref<LogicalResult(Value)> emitRow);
  LogicalResult emitNodes() override;
  LogicalResult emitNodesInLanes(Value count, function_ref<LogicalResult(Value)> emitNode) override;
  Share shareFor(int64_t run);
  Share chooseShare(ValueRange roots);
  bool fitsRegisters(const Share &share);
  Value summedLengthsAllow(Value allowed, int64_t run);
  void synchronizeTakers() override;
  Value isFirstTaker() override;
  LogicalResult emitAlong(Value length, StoreAt storeAt) override;
  LogicalResult storeKept(StoreAt storeAt);

  // --- RowShared.cpp: rows in shared memory
  bool chooseLines();
  bool hasCountedRows(Value tensor);
  static SmallVector<Value> firstOnWay(linalg::GenericOp sum, function_ref<bool(Value)> isWanted);
  int64_t runOfLines() const;
  void layOutLines();
  void bringRow();
  void bringLine(const Buffer &source, const Buffer &line);
  LogicalResult fillLines(linalg::GenericOp sum);
  FailureOr<Value> compute(Value tensor, const Position &position) override;

  // --- RowChains.cpp: sums
  FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                               const Position &position) override;
  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper, int64_t lanes) override;
  void prepareKeptRuns();
  FailureOr<SmallVector<Value>> addRun(linalg::GenericOp generic, ArrayRef<Index> loops,
                                       ArrayRef<Value> indices, ValueRange sums);
  FailureOr<SmallVector<Value>> chainsOfKept(linalg::GenericOp generic, ArrayRef<Index> loops,
                                             Value identity);
  FailureOr<SmallVector<Value>> chainsOfLoop(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                             Value lower, Value upper);
  void markAbsent(linalg::GenericOp generic, MutableArrayRef<Value> sums, Value lower, Value upper);
  Value joinLanes(Operation *join, SmallVector<Value> sums);
  FailureOr<Value> sumChunks(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value lower,
                             Value upper);
  void joinChunks(Operation *join, Value count, Type type);
  Value chunkPointer(Value number, Type type);

  /// A run of a kept row; the last ones of a group may lie behind its end.
  struct KeptRun {
    SmallVector<Value> indices; // of the row's last elements then
    Value present;              // null when it always is
  };

  const Rows rows;
  Share share{};
  bool byBlock = false;
  SmallVector<KeptRun> kept;
  Value inGroup, groupOfWarp;
  Value active; // the group has a row; null when it always has
  Value shared; // sums of chunks

  /// What shared memory has of a tensor, when the code that fills it has run.
  struct Line {
    Buffer buffer;
    bool filled = false;
  };
  const int64_t mostShared; // bytes of a block
  llvm::MapVector<Value, Line> lines;
  Position row; // that is there
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWEMITTER_H
