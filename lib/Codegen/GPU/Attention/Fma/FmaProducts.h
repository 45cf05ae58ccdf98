// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Both products of attention by FMA, in the canonical orders of ad.dot: of queries and keys, whose scores go
// to shared memory, and of weights, which are there, and values.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAPRODUCTS_H

#include "../ScoreFunction.h"
#include "FmaColumnProducts.h"
#include "FmaRowProducts.h"
#include "FmaShape.h"

namespace mlir::ad::device {

class FmaProducts {
public:
  FmaProducts(AttentionCode &code, const AttentionShape &shape, const FmaShape &layout,
              AttentionMemory &memory, AttentionTiles &tiles);

  using Tile = AttentionTiles::Tile;
  /// What products need to know about each row goes to shared memory.
  void writeRows(const Tile &tile) { table.write(tile); }
  /// Writes the scores of the tile's rows and of `count` keys (i32) from `first` on (i64). Those behind the
  /// last one, up to a multiple of kSlabKeys, are -inf.
  void writeScores(const Tile &tile, Value first, Value count);

  /// The sums of a thread: of each of its rows, all of its columns.
  int64_t sumCount() const { return values.sumCount(); }
  /// Continues chains by the weights and values of these keys.
  SmallVector<Value> addValues(const Tile &tile, Value first, Value count, ValueRange sums);
  /// The row of the tile that a sum belongs to (i32).
  Value rowOfSum(int64_t number) { return values.rowOfSum(number); }
  /// Its column of the values (i64), and whether there is one.
  Value columnOfSum(const Tile &tile, int64_t number);
  Value hasColumn(Value column) { return code.isBelow(column, code.i64(shape.width)); }

private:
  AttentionCode &code;
  const AttentionShape &shape;
  const FmaShape &layout;
  AttentionMemory &memory;
  AttentionTiles &tiles;
  ScoreFunction function;
  FmaRowTable table;
  FmaRowProducts scores;
  FmaColumnProducts values;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAPRODUCTS_H
