// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Weights, and the cotangents of the products of queries and keys, in fragments of `mma.sync`, operation by
// operation as the decomposition of ad.attention_grad writes them.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADFACTORS_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADFACTORS_H

#include "../ScoreFunction.h"
#include "MmaCode.h"

namespace mlir::ad::device {

class MmaGradFactors {
public:
  MmaGradFactors(AttentionCode &code, const AttentionShape &shape, ScoreFunction &function)
      : code(code), shape(shape), function(function), mma(code, shape.element) {}

  /// What depends on the element i of a fragment.
  using Element = function_ref<Value(int64_t fragment, int64_t i)>;
  struct Tile {
    Element logSum, delta;
    Element isThere; ///< null: all elements are; others are 0
    Value mayHide;   ///< whether scores have to be masked; null: they have to
    function_ref<Value(Value score, int64_t fragment, int64_t i)> mask;
  };
  /// Two registers for each fragment, rounded as they multiply rows of tensors.
  using Registers = std::array<Value, 2>;
  struct Factors {
    SmallVector<Registers> weights, products;
  };
  /// From the products of queries and keys, and of cotangents and values.
  Factors of(const Tile &tile, ArrayRef<Fragment> ofQueries, ArrayRef<Fragment> ofCotangents);

private:
  SmallVector<Fragment> masked(const Tile &tile, ArrayRef<Fragment> scores);

  AttentionCode &code;
  const AttentionShape &shape;
  ScoreFunction &function;
  MmaCode mma;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMAGRADFACTORS_H
