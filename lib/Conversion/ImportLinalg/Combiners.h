// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How a body with reduction loops combines the elements of its iterations.

#ifndef ADJOINT_LIB_CONVERSION_IMPORTLINALG_COMBINERS_H
#define ADJOINT_LIB_CONVERSION_IMPORTLINALG_COMBINERS_H

#include "Accesses.h"

namespace mlir::ad {
enum class CombinerKind {
  sum,
  product,
  maximum,
  minimum,
  maxNumber, ///< NaN is no number
  minNumber,
  unsignedMax,
  unsignedMin,
  bitAnd, ///< of i1
  bitOr,
};

/// The accumulator is combined with one term after another. Negative terms are subtracted; a product of two
/// factors is a term that a fused multiply-add adds.
struct Combination {
  CombinerKind kind;
  struct Term {
    Value value, factor;
    bool isNegative = false;
  };
  SmallVector<Term> terms;
};

/// How `yielded` is made of the accumulator, or nothing if it is made in another way.
std::optional<Combination> matchCombination(Value yielded, BlockArgument accumulator);

/// `x` combined with `y`, tensors of one element type.
Value combine(TensorCode code, CombinerKind kind, Value x, Value y);

/// `x` reduced along the axes.
Value reduce(TensorCode code, CombinerKind kind, Value x, ArrayRef<int64_t> axes);

/// Whether sums and products of the type are accumulated in a wider one.
bool isAccumulatedWider(CombinerKind kind, Type element);

/// Whether combining with this tensor changes nothing: it has the combiner's neutral value everywhere.
bool isNeutral(CombinerKind kind, Value init);
} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_IMPORTLINALG_COMBINERS_H
