// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Divided reductions (decision 0018): reductions with few results and many elements, whose nodes of the
// order's tree are distributed over all blocks of the grid. This file decides by static facts which kernels
// have them.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_DIVISION_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_DIVISION_H

#include "adjoint/Codegen/Kernel/Grid.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::device {

/// The maximum number of nodes of one result: a warp joins so many in the time of a few loads.
constexpr int64_t kMaxNodes = 8192;
/// With so many results, one thread joins the nodes of a result; with fewer, a warp.
constexpr int64_t kManyResults = 8192;
/// A reduction is divided if the undivided kernel has fewer threads per multiprocessor than the first number.
/// Nodes are so small that there are as many threads as the second number: two and eight blocks of the
/// default size.
constexpr int64_t kMinThreadsPerSM = 2 * kBlockThreads, kTargetThreadsPerSM = 8 * kBlockThreads;

/// Whether so many threads wait for loads longer than the memory needs for them.
constexpr bool areFewThreads(int64_t threads) { return threads < kDefaultSMCount * kMinThreadsPerSM; }

/// The tiles of a result whose nodes are the work of thread blocks.
struct NodeTiles {
  int64_t mAxis, m, n; // rows of a tile run along that axis of the result, columns along its last axis
  int64_t blocksPerSM; // that a multiprocessor runs at the same time
  int64_t threads;     // of a block
  int64_t chain;       // elements of a leaf that an instruction sums in one block, which joins none; 0: FMA
};

struct Division {
  SmallVector<linalg::GenericOp> reductions;
  /// Blocks compute the nodes of tiles, as those of contractions do; otherwise threads compute single nodes.
  std::optional<NodeTiles> tiles;
  /// Of one result in the undivided kernel: its threads, and how many blocks of the order they sum in
  /// parallel.
  int64_t threadsPerResult = 1, parallelBlocks = 1;
  /// All sizes are static, and the reductions are divided; otherwise the host decides by dynamic sizes.
  bool always = false;
  /// One thread joins the nodes of each result, since there are many results; otherwise a warp does.
  bool joinsByThreads = false;
};

/// The division of a kernel, if one can be faster than the undivided kernel. `hasBlockPerRow`: in the
/// undivided kernel a thread block computes each row, and groups of its threads sum a chunk of the order
/// each.
std::optional<Division> matchDivision(KernelOp kernel, bool hasBlockPerRow);

/// The reductions of a kernel, if each of its results has one element per element of theirs, and parts of
/// each can be joined; otherwise none.
SmallVector<linalg::GenericOp> divisibleReductions(KernelOp kernel);

/// Elements of the shortest node, a leaf of the order's tree.
int64_t leafLength(KernelOp kernel, linalg::GenericOp reduction, const Division &division);

/// A reduction of several accumulators that one comparison of integers selects, as argmax does. The first of
/// equal keys stays, so adjacent parts can be joined like elements.
struct Selection {
  Operation *comparison = nullptr;
  SmallVector<Operation *> choices; // one for each accumulator
};
std::optional<Selection> matchSelection(linalg::GenericOp reduction);

/// The selection of two adjacent parts, the left one first.
SmallVector<Value> joinSelections(OpBuilder &builder, Location loc, linalg::GenericOp reduction,
                                  ValueRange left, ValueRange right);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_DIVISION_H
