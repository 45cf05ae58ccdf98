// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The blocks of queries for which keys of a chunk count, as a range: those that causal and a window hide from
// the chunk are before and after it.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_QUERYBLOCKRANGE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_QUERYBLOCKRANGE_H

#include "AttentionTiles.h"

namespace mlir::ad::device {

struct QueryBlockRange {
  /// Of the chunk with those keys (i64).
  QueryBlockRange(AttentionCode &code, const AttentionShape &shape, const AttentionMemory &memory,
                  Value firstKey, Value endKey);

  Value begin, end; ///< numbers of blocks (i64)
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_QUERYBLOCKRANGE_H
