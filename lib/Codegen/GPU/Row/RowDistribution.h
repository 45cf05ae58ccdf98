// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The distribution of rows over threads. A group of threads computes a row, a warp has
// several groups; a thread block computes a long row, and its groups sum a chunk of the order each. A thread
// has contiguous lanes of the order, so that its loads are vectorized.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_ROWDISTRIBUTION_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_ROWDISTRIBUTION_H

#include "RowComponent.h"

namespace mlir::ad::device {

/// The layout of a row over the threads of a group.
struct RowTiling {
  int64_t vector;   // contiguous lanes of a thread
  int64_t threads;  // of a group
  int64_t vectors;  // of a thread, until the group has covered every lane
  int64_t loads;    // vectors that a thread loads before it adds the first of them, where it loops over a row
  bool inRegisters; // each thread keeps its elements of the row from one pass to the next
  bool inShared;    // the block stages in shared memory the rows that several passes read
  int64_t blockThreads = 0;  // of a block that keeps elements of the row in registers; 0: no block does
  int64_t clusterBlocks = 1; // thread blocks that share a row
  int64_t segment = 0;       // elements of a row that such a block keeps, but for the last one
  /// The lanes of a group.
  int64_t lanes() const { return vector * threads * vectors; }
  bool inBlock() const { return blockThreads != 0; }
};

class RowDistribution : public RowComponent {
public:
  using RowComponent::RowComponent;
  /// Registers of a thread that the elements of a row may occupy: half of them, with two blocks on a
  /// multiprocessor.
  static constexpr int64_t kMaxRowWords = kRegistersPerSM / (2 * kBlockThreads) / 2;

  /// The longest vectors of the tensors whose rows are computed.
  int64_t longestVector(ValueRange outputs);
  /// Whether the live values of so many elements fit into so many registers of each thread of a block, and
  /// the unrolled code into a kernel.
  bool fitsBlock(int64_t elements, int64_t vector, int64_t threads, int64_t maxWords);
  /// The tiling with vectors of at most that length.
  RowTiling tilingFor(int64_t vector);
  /// The one with the longest vectors, or shorter ones with which the row fits into registers.
  RowTiling chooseTiling(ValueRange outputs);
  /// Whether the dynamic sizes of rows and of sums allow the vectors of the tiling; null when they always do.
  Value allowsVectors(const RowTiling &candidate);
  /// Code from here on has that tiling.
  void bind(const RowTiling &chosen);
  /// Whether rows have so few threads in all that they wait for loads longer than the memory needs for them.
  bool hasFewThreads(int64_t threadsOfRow);
  /// Whether a GPU runs so many blocks of each row at the same time, one on a multiprocessor.
  bool allRunAtOnce(int64_t blocksOfRow);
  /// Threads of a block that computes a row: a group for each chunk, or more that map its elements where
  /// there are few rows.
  int64_t threadsOfBlock(int64_t threadsOfGroup);
  /// A grid-stride loop over rows, one for each group.
  LogicalResult emitLoopOverGroups(Value count, function_ref<LogicalResult(Value)> emitRow);
  /// The first index of this thread in the row, and the distance to its next vector.
  std::pair<Value, Value> stridedRange();
  /// Whether this thread stores the values that all threads of the row have computed.
  Value isLeader();
  /// A tensor whose rows are the rows that the grid enumerates.
  bool hasGridRows(Value tensor);
  /// Follows the operands of a reduction backwards, no further than other reductions, and returns the tensors
  /// on the way that satisfy the predicate.
  static SmallVector<Value> sourcesOf(linalg::GenericOp reduction, function_ref<bool(Value)> isWanted);

  RowTiling tiling{};
  bool byBlock = false;           // a thread block computes a row
  Position row;                   // the one at hand
  Value inGroup, groupInWarp;     // numbers of the thread in its group, and of the group in its warp
  Value active;                   // the group has a row; null when it always has
  Value segmentStart, segmentEnd; // of the elements that this block keeps in registers, if it does

private:
  void bindSegment();
  bool fitsRegisters(const RowTiling &candidate);
  bool fitsThread(int64_t elements, int64_t maxWords);
  int64_t rowCount(); // ShapedType::kDynamic if it is not known
  /// The same of groups that sum a row or a whole chunk of it.
  bool hasFewGroups(int64_t threadsOfGroup);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_ROWDISTRIBUTION_H
