// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The shared memory of the kernel by FMA, and how threads share maxima and sums of rows: adjacent threads
// share a row.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMASHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMASHAPE_H

#include "FmaGrid.h"
#include "FmaRowTable.h"

namespace mlir::ad::device {

struct FmaShape : FmaGrid {
  explicit FmaShape(const AttentionShape &attention) : FmaGrid(attention, attention.width, attention.depth) {}

  /// Keys whose scores are in shared memory.
  static constexpr int64_t kKeys = kAttentionKeys;

  int64_t threadsOfRow() const { return kThreads / rows(); }
  int64_t scoreStride() const { return kKeys + kVector; }

  /// Bytes of the parts of shared memory, one after the other.
  int64_t rowTable() const { return 0; }
  int64_t factors() const { return FmaRowTable::bytes(*this); }
  int64_t scores() const { return factors() + rows() * bytes; }
  int64_t stagedRows() const { return scores() + rows() * scoreStride() * bytes; }
  int64_t stagedKeys() const { return stagedRows() + sliceBytes(rows()); }
  int64_t stagedValues() const { return stagedRows(); }
  int64_t sharedBytes() const;

  LaunchShape launch() const;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMASHAPE_H
