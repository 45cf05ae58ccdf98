// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The score of a query and a key from the product of their elements, operation by operation as the
// decompositions of ad.attention and ad.attention_grad write it.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SCOREFUNCTION_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SCOREFUNCTION_H

#include "AttentionTiles.h"

namespace mlir::ad::device {

class ScoreFunction {
public:
  ScoreFunction(AttentionCode &code, const AttentionShape &shape, AttentionMemory &memory)
      : code(code), shape(shape), memory(memory) {}

  /// Scale and softcap.
  Value bounded(Value product) { return boundedWithSlope(product).score; }
  /// Of the softcap also the derivative, or null without one.
  struct Bounded {
    Value score, slope;
  };
  Bounded boundedWithSlope(Value product);

  /// Whether causal or a window may hide one of some keys from one of some queries (i64).
  Value mayHide(Value firstQuery, Value endQuery, Value firstKey, Value endKey);
  /// The keys of some, from `first` on (i64), that count for a row by their numbers: [begin, end), from the
  /// first one on (i32). No begin is 0.
  struct Range {
    Value begin, end;
  };
  Range rangeOf(const AttentionTiles::Row &row, Value first, Value count);
  /// Masks the score of a key, whose number among them that is (i32): -inf if it does not count.
  Value masked(Value score, const AttentionTiles::Row &row, const Range &range, Value first, Value key);

private:
  AttentionCode &code;
  const AttentionShape &shape;
  AttentionMemory &memory;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SCOREFUNCTION_H
