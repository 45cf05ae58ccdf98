// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The parts of attention of few queries, and the memory between its launches: how many there are, and where
// each of them is. The host counts with the same code as the kernels.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITCOUNTS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITCOUNTS_H

#include "../AttentionTiles.h"
#include "SplitShape.h"

namespace mlir::ad::device {

/// Numbers of i64. All chunks have as many parts as the longest one. The memory has numbers of the
/// accumulator's type.
class SplitCounts {
public:
  SplitCounts(AttentionCode &code, const AttentionShape &shape, const AttentionMemory &memory,
              AttentionTiles &tiles);

  Value chunks;
  Value slabsOfChunk, leavesOfChunk, nodesOfChunk;
  Value rows; ///< of all sequences
  Value slabs() { return times(chunks, slabsOfChunk); }
  Value leaves() { return times(chunks, leavesOfChunk); }
  Value nodes() { return times(chunks, nodesOfChunk); }

  /// A row of the tile (i32), among all rows.
  Value rowNumber(const AttentionTiles::Tile &tile, Value row);

  /// Scores of a row, from the first key of the chunk on.
  Value score(Value row, Value chunk) { return times(add(times(row, chunks), chunk), scoresOfChunk()); }
  /// The largest score of a slab; of all chunks up to one; the sum of a node's weights.
  Value slabMaximum(Value row, Value slab) { return add(maxima(), add(times(row, slabs()), slab)); }
  Value maximum(Value row, Value chunk) { return add(running(), add(times(row, chunks), chunk)); }
  Value weight(Value row, Value node) { return add(weights(), add(times(row, nodes()), node)); }
  /// The products of a leaf's weights and values: the first column.
  Value product(Value row, Value leaf) {
    return add(products(), times(add(times(row, leaves()), leaf), code.i64(shape.width)));
  }
  Value bytes();

private:
  Value times(Value x, Value y) { return code.binary<arith::MulIOp>(x, y); }
  Value add(Value x, Value y) { return code.add(x, y); }
  Value scoresOfChunk() { return times(slabsOfChunk, code.i64(SplitShape::kSlab)); }
  // Where the parts of the memory begin.
  Value maxima() { return times(rows, times(chunks, scoresOfChunk())); }
  Value running() { return add(maxima(), times(rows, slabs())); }
  Value weights() { return add(running(), times(rows, chunks)); }
  Value products() { return add(weights(), times(rows, nodes())); }

  AttentionCode &code;
  const AttentionShape &shape;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITCOUNTS_H
