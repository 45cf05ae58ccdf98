// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions with few results and much to reduce, which a grid of threads shares by nodes of the order's tree
// (decision 0018): which kernels have them, and what is known of them before the code is made.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_DIVISION_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_DIVISION_H

#include "../Row/RowMatch.h"
#include "adjoint/Codegen/Kernel/Grid.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::device {

/// Nodes of one result, at most: what a warp joins in the time of some loads.
constexpr int64_t kMostNodes = 8192;
/// Threads for each processor of the device: reductions are divided where the undivided kernel has fewer, and
/// nodes are as small as gives them so many. Both are blocks of the usual size, two and eight.
constexpr int64_t kFewThreads = 2 * kBlockThreads, kWantedThreads = 8 * kBlockThreads;
/// What is decided before the device is known counts on those of an H100.
constexpr int64_t kUsualProcessors = 132;

struct Division {
  SmallVector<linalg::GenericOp> reductions;
  /// Rows, whose chunks groups of threads sum.
  std::optional<Rows> rows;
  /// Of one result in the undivided kernel: its threads, and how many blocks of the order they take at once.
  int64_t threadsOfResult = 1, blocksAtOnce = 1;
  /// All sizes are known, and the reductions are to be divided; else the run decides.
  bool always = false;
  /// There are so many results that one thread joins the nodes of each; else a warp does.
  bool joinsByThreads = false;
};

/// The division of a kernel, where one can pay. `rows` are those that a kernel of class row has.
std::optional<Division> matchDivision(KernelOp kernel, std::optional<Rows> rows);

/// Elements of the shortest node, a leaf of the order's tree.
int64_t leafLength(KernelOp kernel, linalg::GenericOp reduction);

/// A reduction of several accumulators that one comparison of integers selects, as argmax does. The first of
/// equal keys stays, so neighbouring parts can be joined like elements.
struct Selection {
  Operation *comparison = nullptr;
  SmallVector<Operation *> choices; // one for each accumulator
};
std::optional<Selection> matchSelection(linalg::GenericOp reduction);

/// Of two neighbouring parts, the left one first, what both together select.
SmallVector<Value> joinSelections(OpBuilder &builder, Location loc, linalg::GenericOp reduction,
                                  ValueRange left, ValueRange right);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_DIVISION_H
