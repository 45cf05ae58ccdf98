// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Queries, keys and values of a tile in shared memory: the queries once, keys and values in a ring of stages.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMASTAGING_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMASTAGING_H

#include "../AttentionTiles.h"
#include "MmaShape.h"
#include "SwizzledRows.h"

namespace mlir::ad::device {

class MmaStaging {
public:
  MmaStaging(AttentionCode &code, const AttentionShape &attention, const MmaShape &shape,
             AttentionMemory &memory, AttentionTiles &tiles);

  using Tile = AttentionTiles::Tile;
  void copyQueries(const Tile &tile);
  /// The tile of keys or values that is step `step` of a chunk, whose first key that is (i64). Rows behind
  /// the chunk's `count` keys (i64) are 0.
  void copyStep(const Tile &tile, Value first, Value count, int64_t step);
  void commit();
  /// Until the oldest of all stages has arrived, for all threads, and the one before is free.
  void wait();

  /// Four registers of A, of the warp's rows: elements of the depth from `k` on.
  SmallVector<Value> queries(int64_t k);
  /// Four registers, B of two products: 16 keys of the step, and elements of the depth from `k` on.
  SmallVector<Value> keys(int64_t step, int64_t key, int64_t k);
  /// The same of 16 columns of values: steps are keys from `key` on.
  SmallVector<Value> values(int64_t step, int64_t key, int64_t column);

private:
  Value stageOf(int64_t step, int64_t byte) {
    return code.shared(shape.firstStage() + step % shape.stages() * shape.stageBytes() + byte);
  }

  AttentionCode &code;
  const MmaShape &shape;
  AttentionMemory &memory;
  AttentionTiles &tiles;
  SwizzledRows rows;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMASTAGING_H
