// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the reverse of a loop needs to know about it.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_LOOPS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_LOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ad {
/// The range of a loop that is known now. Numbers of the index's width, without or with a sign as the loop
/// says.
struct StaticBounds {
  APInt lower, step;
  int64_t trips;
};
std::optional<StaticBounds> staticBounds(scf::ForOp loop);

/// A value that each iteration of a loop leaves on a tape: a carry, or the result of an effect or
/// contraction.
struct Saved {
  Value value;
  /// Its dynamic sizes, which are the same in all iterations.
  SmallVector<Value> sizes;
  /// A carry whose tape has the initial value in row 0 and what iteration i yields in row i + 1.
  bool withYielded = false;
};

/// Whether values of the type can be saved: numbers and tensors of numbers.
bool canBeSaved(Type type);

/// Operations of the body whose results must be saved because running them again is not allowed.
SmallVector<Operation *> effectsWithResults(scf::ForOp loop);

/// The result of a contraction of the body, if it is better saved than computed again. Its sizes are built in
/// front of the loop, where `before` inserts.
std::optional<Saved> savedContraction(scf::ForOp loop, Operation *op, OpBuilder &before);

/// A loop that leaves values on tapes, and its tapes in the order of the values.
struct TapedLoop {
  scf::ForOp loop;
  SmallVector<Value> tapes;
};
/// Replaces the loop by one that also saves the values.
TapedLoop saveOnTapes(scf::ForOp loop, const StaticBounds &bounds, ArrayRef<Saved> saved, OpBuilder &builder);

/// The value of type `type` that iteration number `iteration` saved.
Value readTape(OpBuilder &builder, Location loc, Type type, Value tape, Value iteration, ValueRange sizes);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_LOOPS_H
