// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows in the registers of a thread block. A thread keeps vectors of the row, which are spread over the
// block, from one pass to the next. A sum over the lanes of the order needs other threads: each thread
// computes the terms of its own elements and stores them in shared memory, where the thread that has a lane
// reads them. Maxima and minima need no order: each thread joins its own elements, then the warps join.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_TERMEXCHANGE_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_TERMEXCHANGE_H

#include "RowComponent.h"

namespace mlir::ad::device {

class ClusterExchange;
class RowDistribution;
class RowRegisters;
struct RowTiling;

/// What a chip allows.
struct BlockLimits {
  int64_t sharedBytes;   // shared memory of a block
  int64_t clusterBlocks; // blocks of a cluster; 1 without clusters
};

class TermExchange : public RowComponent {
public:
  TermExchange(RowEmitter &emitter, RowDistribution &distribution, RowRegisters &registers,
               ClusterExchange &cluster, const BlockLimits &limits)
      : RowComponent(emitter), distribution(distribution), registers(registers), cluster(cluster),
        limits(limits) {}

  /// The tiling of rows in the registers of a block, or of a cluster where rows are few or do not fit into
  /// one; none if a row is read once, or does not fit.
  std::optional<RowTiling> chooseTiling(ValueRange outputs);
  /// Allocates the terms and one value per warp in shared memory, and sets the shape of the launch.
  void allocate(const RowTiling &tiling);
  bool isAllocated() const { return ofWarps != nullptr; }
  /// Whether the row and its code leave registers for a third block.
  bool needsFewRegisters() const { return isAllocated() && fewRegisters; }
  /// Whether every order of the reduction gives the same bits.
  static bool isFreeOfOrder(linalg::GenericOp reduction);
  /// The whole reduction, where its order is free.
  FailureOr<Value> reduceInAnyOrder(linalg::GenericOp reduction, ArrayRef<Index> loops, Value identity);
  /// Stores the terms of this thread's elements; the sum of a block starts with a barrier, after which they
  /// are visible, and its last barrier comes after the last of them was read.
  LogicalResult storeTerms(linalg::GenericOp reduction, ArrayRef<Index> loops);
  /// The terms at consecutive indices of the row.
  SmallVector<Value> loadTerms(linalg::GenericOp reduction, ArrayRef<Value> indices);

private:
  std::optional<RowTiling> tilingOfBlocks(int64_t blocks, int64_t vector);
  bool hasFewWords(int64_t segment) const;
  int64_t maxWords(int64_t segment, int64_t vector, int64_t threads) const;
  bool isShorter(const RowTiling &tiling, const RowTiling &than) const;
  bool isBalanced(const RowTiling &tiling) const;
  int64_t chooseThreads(int64_t segment, int64_t blocks, int64_t vector);
  FailureOr<SmallVector<Value>> termsOf(linalg::GenericOp reduction, ArrayRef<Index> loops);
  Buffer termBuffer(linalg::GenericOp reduction);
  Position inSegment(Value index);
  Value joinThread(linalg::GenericOp reduction, SmallVector<Value> values, Value identity);
  Value joinThreads(linalg::GenericOp reduction, Value value, int64_t threads);
  Value warpSlot(Value number, Type type);

  RowDistribution &distribution;
  RowRegisters &registers;
  ClusterExchange &cluster;
  const BlockLimits limits;
  bool fewRegisters = false;
  int64_t termBytes = 0; // of the widest term of a sum
  Value terms, ofWarps;  // in shared memory
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_TERMEXCHANGE_H
