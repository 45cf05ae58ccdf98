// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which indices an affine expression has over loops.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_INDEXINTERVALS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_INDEXINTERVALS_H

#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace mlir::ad {

/// All numbers from `low` to `high`.
struct Interval {
  int64_t low, high;
};

/// The range of the expression over loops from 0 to these sizes, all of 64 bits where it may wrap. None if a
/// size is dynamic (ShapedType::kDynamic), for symbols, and for quotients and remainders of numbers that may
/// be negative.
std::optional<Interval> intervalOf(AffineExpr expr, ArrayRef<int64_t> sizes);

/// Whether the expression has a quotient or a remainder.
bool divides(AffineExpr expr);

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_INDEXINTERVALS_H
