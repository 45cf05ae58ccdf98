// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Functions of the rules of reductions.

#ifndef ADJOINT_LIB_DIALECT_AD_DERIVATIVES_REDUCTIONS_H
#define ADJOINT_LIB_DIALECT_AD_DERIVATIVES_REDUCTIONS_H

#include "Rules.h"

namespace mlir::ad {
/// `reduced`, a reduction of `input` over `axes`, with dimensions of size 1 in their place.
Value withReducedAxes(Rule &rule, Value reduced, Value input, ArrayRef<int64_t> axes);

/// Moves the reduced axes of a tensor after all others and merges them into one, in row-major order, so that
/// a rule needs to know only one case.
class CollapsedAxes {
public:
  CollapsedAxes(Rule &rule, Value input, ArrayRef<int64_t> axes);

  /// The input in that form; comes first.
  Value collapse();
  /// A value in that form, back in the form of the input.
  Value expand(Value collapsed);
  /// A reduction over the axes as a tensor with a last dimension of size 1.
  Value reducedLikeKept(Value reduced, Value collapsed);

private:
  Value transposed();

  Rule &rule;
  Value input, ordered;
  /// Axes of the input in the new order; the first `kept` are not reduced.
  SmallVector<int64_t> order;
  int64_t kept;
};

LogicalResult productRule(ReduceProdOp op, Rule &rule);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_DERIVATIVES_REDUCTIONS_H
