// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel of ad.attention by FMA, for every type and every mode: a block of threads has a tile of rows and
// goes through the chunks of keys with a running maximum and sums, as the decomposition writes them. Scores
// of kKeys keys are in shared memory; those of a longer chunk are computed twice, for its maximum and for its
// weights.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAATTENTION_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAATTENTION_H

#include "../ChunkRange.h"
#include "FmaProducts.h"
#include "FmaRows.h"

namespace mlir::ad::device {

class FmaAttention {
public:
  FmaAttention(FunctionOpInterface function, KernelOp kernel, const AttentionShape &shape,
               const FmaShape &layout);
  void emit();

private:
  using Tile = AttentionTiles::Tile;
  /// A chunk of keys: the first one (i64), and how many (i64).
  struct Chunk {
    Value first, count;
  };
  /// Of the thread's row: the largest score so far, and the sum of weights; of its columns, the values.
  struct Sums {
    Value maximum, weight;
    SmallVector<Value> values;

    explicit Sums(ValueRange all) : maximum(all[0]), weight(all[1]), values(all.drop_front(2)) {}
    SmallVector<Value> all() const;
  };
  /// What one chunk gives.
  struct ChunkSums {
    Value weight;
    SmallVector<Value> values;
  };
  /// Sums of a chunk so far: of nodes that have not ended, and the trees over those that have. A tree has no
  /// state where a chunk has one node.
  struct OpenNodes {
    SmallVector<Value> lanes, values;
    PairwiseStack::State chunks, blocks;

    SmallVector<Value> all() const;
    /// The same with other numbers.
    OpenNodes with(ValueRange all) const;
  };
  /// The parts of a chunk whose scores are in shared memory: the first key in the chunk (i64), and how many
  /// keys (i32).
  using Part = function_ref<SmallVector<Value>(Value begin, Value count, ValueRange values)>;
  SmallVector<Value> overParts(const Chunk &chunk, ValueRange values, Part part);

  void emitTile(const Tile &tile);
  Sums addChunk(const Tile &tile, const Chunk &chunk, const Sums &before);
  ChunkSums sumParts(const Tile &tile, const Chunk &chunk, Value shift);
  Value endsNode(const Chunk &chunk, Value end, int64_t length);
  void storeTile(const Tile &tile, const Sums &sums);

  const AttentionShape &shape;
  const FmaShape &layout;
  OpBuilder builder;
  AttentionCode code;
  AttentionMemory memory;
  AttentionTiles tiles;
  FmaProducts products;
  FmaRows rows;
  std::optional<PairwiseStack> weightChunks, valueBlocks; // where a chunk may have several
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAATTENTION_H
