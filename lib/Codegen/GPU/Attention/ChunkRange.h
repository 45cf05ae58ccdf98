// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The chunks of keys that count for a tile, as a range: those that causal and a window hide are before and
// after it.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_CHUNKRANGE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_CHUNKRANGE_H

#include "AttentionTiles.h"

namespace mlir::ad::device {

/// Numbers of i64.
class ChunkRange {
public:
  ChunkRange(AttentionCode &code, const AttentionShape &shape, const AttentionMemory &memory,
             AttentionTiles &tiles, const AttentionTiles::Tile &tile);

  Value begin, end; ///< numbers of chunks
  Value firstKey(Value chunk) { return code.binary<arith::MulIOp>(chunk, length); }
  /// Keys of a chunk that there is.
  Value count(Value chunk);

private:
  AttentionCode &code;
  Value keys, length;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_CHUNKRANGE_H
