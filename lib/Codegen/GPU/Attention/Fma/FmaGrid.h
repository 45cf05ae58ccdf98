// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How a block of threads divides products by FMA. Threads are a grid of kSide x kSide: each has adjacent
// rows, and keys or columns that are spread over the tile.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRID_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRID_H

#include "../AttentionShape.h"

namespace mlir::ad::device {

struct FmaGrid {
  /// With that many columns to be computed.
  FmaGrid(const AttentionShape &attention, int64_t columns, int64_t longestRow);

  static constexpr int64_t kSide = 16, kThreads = kSide * kSide;
  /// Keys whose products a thread has at once, and that a thread loads as one vector.
  static constexpr int64_t kSlabKeys = 64, kVector = 4;
  /// Elements of a row, and rows that multiply columns, that are staged at once, at most.
  static constexpr int64_t kSlice = 32;

  int64_t bytes; ///< of a number
  int64_t rowsOfThread, columnsOfThread;
  int64_t slice; ///< of a row
  int64_t rows() const { return rowsOfThread * kSide; }
  int64_t columns() const { return columnsOfThread * kSide; }
  int64_t keysOfThread() const { return kSlabKeys / kSide; }
  /// Adjacent columns of a thread.
  int64_t columnVector() const { return std::min(columnsOfThread, kVector); }
  /// Numbers from one staged row to the next: a vector more than a row has, so that rows are in different
  /// banks.
  int64_t sliceStride() const { return slice + kVector; }
  int64_t sliceBytes(int64_t rows) const { return rows * sliceStride() * bytes; }
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRID_H
