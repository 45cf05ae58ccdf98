// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How the kernel by FMA divides a tile among its threads, and its shared memory. Threads are a grid of
// kSide x kSide: each has adjacent rows, and keys or columns that are spread over the tile. For maxima and
// sums of rows, adjacent threads share a row.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMASHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMASHAPE_H

#include "AttentionShape.h"

namespace mlir::ad::device {

struct FmaShape {
  explicit FmaShape(const AttentionShape &attention);

  static constexpr int64_t kSide = 16, kThreads = kSide * kSide;
  /// Keys whose scores are in shared memory, whose products a thread has at once, and that a thread loads as
  /// one vector.
  static constexpr int64_t kKeys = kAttentionKeys, kSlabKeys = 64, kVector = 4;
  /// Elements of the depth, and keys of the values, that are staged at once, at most.
  static constexpr int64_t kSlice = 32;

  int64_t bytes; ///< of a number
  int64_t rowsOfThread, columnsOfThread;
  int64_t slice; ///< of the depth
  int64_t rows() const { return rowsOfThread * kSide; }
  int64_t columns() const { return columnsOfThread * kSide; }
  int64_t keysOfThread() const { return kSlabKeys / kSide; }
  /// Adjacent columns of a thread.
  int64_t columnVector() const { return std::min(columnsOfThread, kVector); }
  int64_t threadsOfRow() const { return kThreads / rows(); }

  /// Numbers from one row to the next: a vector more than a row has, so that rows are in different banks.
  int64_t scoreStride() const { return kKeys + kVector; }
  int64_t sliceStride() const { return slice + kVector; }

  /// Bytes of the parts of shared memory, one after the other.
  int64_t tableBytes() const { return rows() * int64_t(sizeof(int64_t)); }
  int64_t rowTable(int64_t number) const { return number * tableBytes(); }
  int64_t factors() const { return rowTable(3); }
  int64_t scores() const { return factors() + rows() * bytes; }
  int64_t stagedRows() const { return scores() + rows() * scoreStride() * bytes; }
  int64_t stagedKeys() const { return stagedRows() + rows() * sliceStride() * bytes; }
  int64_t stagedValues() const { return stagedRows(); }
  int64_t sharedBytes() const;

  LaunchShape launch() const;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMASHAPE_H
