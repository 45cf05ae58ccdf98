// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters in the form that they have in linalg: each element of the result looks for the iterations that
// update it. Targets run the iterations instead, and write where their indices say.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_ORDEREDWRITE_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_ORDEREDWRITE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad {

/// A chain over reduction loops that changes an element only in iterations whose indices are those of the
/// element. Loops of the operation before `rank` are the axes of the result.
struct OrderedWrite {
  linalg::GenericOp generic;
  unsigned rank;                  ///< of the result
  SmallVector<unsigned> searched; ///< axes whose index an iteration computes, ascending
  SmallVector<Value> indices;     ///< these indices, values of the body
  Value updated;                  ///< the new accumulator, a value of the body
  SmallVector<unsigned> outer;    ///< other axes on which an index depends
  SmallVector<unsigned> inner;    ///< axes that all iterations run over alike

  /// The accumulator in the body.
  BlockArgument accumulator() { return generic.getRegionOutputArgs().front(); }
  /// The elements before all updates.
  Value start() { return generic.getDpsInits().front(); }
};

/// What computes the tensor, if it has this form.
std::optional<OrderedWrite> matchOrderedWrite(Value output);

/// A chain over one reduction loop, the last one, that changes an element only in a run of its iterations: a
/// scatter whose updates are sorted (ad-sort-scatters). Loops of the operation before `rank` are the axes of
/// the result.
struct UpdateRuns {
  linalg::GenericOp generic;
  unsigned rank;    ///< of the result
  Value begin, end; ///< the first iteration of the run, and that after its last one; values of the body
  Value updated;    ///< the new accumulator, a value of the body
  SmallVector<unsigned> searched; ///< the axes on which the run depends

  /// The accumulator in the body.
  BlockArgument accumulator() { return generic.getRegionOutputArgs().front(); }
  /// The elements before all updates.
  Value start() { return generic.getDpsInits().front(); }
  /// The tensor that holds where runs begin; null if these are computed.
  BlockArgument begins() const;
};

/// What computes the tensor, if it has this form.
std::optional<UpdateRuns> matchUpdateRuns(Value output);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_ORDEREDWRITE_H
