// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the launches of attention of few queries have in common: units of work, which blocks take by turns.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITKERNEL_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITKERNEL_H

#include "../ChunkRange.h"
#include "SplitCounts.h"

namespace mlir::ad::device {

class SplitKernel {
public:
  /// The arguments of the function are those of the kernel, and the memory between launches.
  SplitKernel(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
              const SplitShape &shape, int64_t rowsOfTile, int64_t columnsOfTile);

protected:
  using Tile = AttentionTiles::Tile;
  void forEachUnit(Value count, function_ref<void(Value unit)> body);

  /// Adjacent keys of a chunk.
  struct Part {
    Value chunk;           ///< its number (i64)
    Value first, firstKey; ///< of the chunk, and of all keys (i64)
    Value count;           ///< keys (i64)
    Value isThere;         ///< whether it has keys, and the chunk counts
  };
  /// One of parts of so many keys, by its number among those of all chunks.
  Part partAt(Value number, Value partsOfChunk, int64_t keys);
  /// The largest score of the row up to the chunk. Each thread of the warp asks for the same.
  Value maximumUpTo(Value row, Value chunk);

  Value load(Value number) { return code.load(scratch, code.accumulator, number); }
  void store(Value number, Value x) { code.store(scratch, number, x); }
  Value warp() { return code.binary<arith::DivUIOp>(code.thread, kWarpThreads); }
  Value lane() { return code.binary<arith::RemUIOp>(code.thread, kWarpThreads); }
  Value isFirst(Value number) {
    return code.compare(arith::CmpIPredicate::eq, number, code.number(number, 0));
  }
  Value both(Value x, Value y) { return code.binary<arith::AndIOp>(x, y); }

  const AttentionShape &attention;
  const SplitShape &shape;
  OpBuilder builder;
  AttentionCode code;
  AttentionMemory memory;
  AttentionTiles tiles;
  SplitCounts counts;
  ChunkRange chunks;
  Value scratch;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITKERNEL_H
