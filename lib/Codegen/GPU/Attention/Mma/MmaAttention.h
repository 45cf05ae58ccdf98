// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel of ad.attention by `mma.sync`, for 16-bit floats where products may use tensor cores: each warp
// has the scores of its rows and of a whole chunk in registers, which become the operand of the product with
// the values ("FlashAttention-2": T. Dao, 2023). Keys and values pass through a ring of stages in shared
// memory.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAATTENTION_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAATTENTION_H

#include "../ChunkRange.h"
#include "../ScoreFunction.h"
#include "MmaRows.h"
#include "MmaStaging.h"

namespace mlir::ad::device {

class MmaAttention {
public:
  MmaAttention(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
               const MmaShape &shape);
  void emit();

private:
  using Tile = AttentionTiles::Tile;
  /// A chunk: its first key and how many there are (i64).
  struct Chunk {
    Value first, count;
  };
  struct Sums {
    RowPair maximum, weight;
    SmallVector<Fragment> values;

    SmallVector<Value> all() const;
  };
  Sums sumsFrom(ValueRange all);

  void emitTile(const Tile &tile);
  void startCopies(const Tile &tile, ChunkRange &chunks);
  /// Waits for a step, and copies one that comes later.
  void advance(const Tile &tile, ChunkRange &chunks, Value number, int64_t step);
  /// Fragments of code that is left out where the chunk has no such keys.
  SmallVector<Fragment> ifHas(const Chunk &chunk, int64_t key, ArrayRef<Fragment> otherwise,
                              function_ref<SmallVector<Fragment>()> code);

  SmallVector<Fragment> scoresOfStep(int64_t step);
  SmallVector<Fragment> masked(const Tile &tile, const Chunk &chunk, ArrayRef<Fragment> scores);
  Value mayHide(const Tile &tile, const Chunk &chunk);
  SmallVector<Fragment> addValues(int64_t step, ArrayRef<MmaRows::Registers> weights,
                                  ArrayRef<Fragment> sums);
  Sums addChunk(const Tile &tile, ChunkRange &chunks, Value number, const Sums &before);
  void storeTile(const Tile &tile, const Sums &sums);

  const AttentionShape &attention;
  const MmaShape &shape;
  OpBuilder builder;
  AttentionCode code;
  AttentionMemory memory;
  AttentionTiles tiles;
  ScoreFunction function;
  MmaStaging staging;
  MmaRows rows;
  MmaCode mma;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAATTENTION_H
