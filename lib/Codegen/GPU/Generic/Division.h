// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Divided reductions (decision 0018): reductions with few results and many elements, which all blocks of the
// grid compute together by nodes of the order's tree. This file decides which kernels have them, from static
// facts.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_DIVISION_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_DIVISION_H

#include "../Row/RowMatch.h"
#include "adjoint/Codegen/Kernel/Grid.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::device {

/// The most nodes of one result: a warp joins so many in the time of a few loads.
constexpr int64_t kMaxNodes = 8192;
/// A reduction is divided when the undivided kernel has fewer threads per multiprocessor than the first, and
/// nodes are so small that there are as many as the second: two and eight blocks of the default size.
constexpr int64_t kMinThreadsPerSM = 2 * kBlockThreads, kTargetThreadsPerSM = 8 * kBlockThreads;
/// Decisions at compile time assume the multiprocessors of an H100.
constexpr int64_t kDefaultSMCount = 132;

struct Division {
  SmallVector<linalg::GenericOp> reductions;
  /// The rows of a kernel of class row: groups of threads sum their chunks.
  std::optional<Rows> rows;
  /// Of one result in the undivided kernel: its threads, and how many blocks of the order they sum in
  /// parallel.
  int64_t threadsPerResult = 1, parallelBlocks = 1;
  /// All sizes are static, and the reductions are divided; otherwise the host decides by dynamic sizes.
  bool always = false;
  /// One thread joins the nodes of each result, since there are many results; otherwise a warp does.
  bool joinsByThreads = false;
};

/// The division of a kernel, where one can be faster. `rows` is what a kernel of class row has.
std::optional<Division> matchDivision(KernelOp kernel, std::optional<Rows> rows);

/// Elements of the shortest node, a leaf of the order's tree.
int64_t leafLength(KernelOp kernel, linalg::GenericOp reduction);

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

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_DIVISION_H
