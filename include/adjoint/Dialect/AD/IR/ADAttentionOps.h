// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Attention. Only its derivative, its decomposition and its kernels name it.

#ifndef ADJOINT_DIALECT_AD_IR_ADATTENTIONOPS_H
#define ADJOINT_DIALECT_AD_IR_ADATTENTIONOPS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "adjoint/Interfaces/PrecisionOpInterface.h"

namespace mlir::ad {
/// What ad.require says of an operand without the size of its loop: ADRT_FAIL_OPERAND of adrt.h, which this
/// layer does not know.
inline constexpr int32_t kOperandSizeFailure = 8;

/// Queries of a block, and keys of a chunk where a block has so many queries.
inline constexpr int64_t kAttentionQueries = 256, kAttentionKeys = 256;
/// The keys of a chunk that is not written, by the number of queries, which is at least 1.
inline constexpr int64_t keysOfChunk(int64_t queries) {
  return kAttentionKeys * (kAttentionQueries / (queries < kAttentionQueries ? queries : kAttentionQueries));
}
} // namespace mlir::ad

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADAttentionOps.h.inc"

#endif // ADJOINT_DIALECT_AD_IR_ADATTENTIONOPS_H
