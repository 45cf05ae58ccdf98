// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Weights of rows and keys, computed again from the logarithms of their sums, and the cotangents of the
// products of queries and keys, operation by operation as the decomposition of ad.attention_grad writes them.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADSCORES_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADSCORES_H

#include "../ScoreFunction.h"
#include "FmaGradShape.h"
#include "FmaRowProducts.h"

namespace mlir::ad::device {

class FmaGradScores {
public:
  FmaGradScores(AttentionCode &code, const AttentionShape &shape, const FmaGradShape &layout,
                AttentionMemory &memory, AttentionTiles &tiles);

  using Tile = AttentionTiles::Tile;
  /// What is needed to know about each row goes to shared memory.
  void writeRows(const Tile &tile);
  Value numberOfRow(Value row) { return table.number(row); }

  /// At most kSlabKeys of them: the first one (i64), and how many (i32).
  struct Keys {
    Value first, count;
  };
  /// Of each row of the thread its keys, rounded as they multiply rows of tensors.
  struct Factors {
    SmallVector<Value> weights, products;
  };
  Factors factors(const Tile &tile, const Keys &keys);
  /// Rows and keys of the thread (i32).
  Value rowOf(int64_t number);
  Value keyOf(int64_t number);

private:
  Factors ofRow(const Keys &keys, int64_t number, ArrayRef<Value> scores, ArrayRef<Value> ofWeights);
  Value statistic(int64_t byte, Value row) { return code.load(code.shared(byte), code.accumulator, row); }

  AttentionCode &code;
  const AttentionShape &shape;
  const FmaGradShape &layout;
  AttentionMemory &memory;
  AttentionTiles &tiles;
  ScoreFunction function;
  FmaRowTable table;
  FmaRowProducts ofQueries, ofCotangents; // with keys, with values
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_FMA_FMAGRADSCORES_H
