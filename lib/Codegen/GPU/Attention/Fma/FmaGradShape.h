// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The shared memory of the kernel of ad.attention_grad by FMA.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADSHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADSHAPE_H

#include "FmaRowTable.h"

namespace mlir::ad::device {

struct FmaGradShape : FmaGrid {
  explicit FmaGradShape(const AttentionShape &attention)
      : FmaGrid(attention, longestRow(attention), longestRow(attention)) {}

  /// Numbers from one row of factors to the next: of rows times keys, and of keys times rows.
  int64_t strideOfRow() const { return kSlabKeys + kVector; }
  int64_t strideOfKey() const { return rows() + kVector; }
  /// Rows of queries that are staged at once.
  int64_t stagedQueries() const { return std::min(kSlice, rows()); }

  /// Bytes of the parts of shared memory, one after the other.
  int64_t rowTable() const { return 0; }
  int64_t logSums() const { return FmaRowTable::bytes(*this); }
  int64_t deltas() const { return logSums() + rows() * bytes; }
  int64_t products() const { return deltas() + rows() * bytes; }
  int64_t weights() const { return products() + factorBytes(); }
  int64_t stagedRows() const { return weights() + factorBytes(); }
  int64_t stagedKeys() const { return stagedRows() + sliceBytes(rows()); }
  int64_t stagedColumns() const { return stagedRows(); }
  int64_t sharedBytes() const;

private:
  static int64_t longestRow(const AttentionShape &attention) {
    return std::max(attention.depth, attention.width);
  }
  int64_t factorBytes() const { return std::max(rows() * strideOfRow(), kSlabKeys * strideOfKey()) * bytes; }
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADSHAPE_H
