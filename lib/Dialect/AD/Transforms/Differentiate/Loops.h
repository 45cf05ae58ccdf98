// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the reverse of a loop needs to know about it.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_LOOPS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_LOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ad {
/// The iterations of a loop: each a constant or a value in front of it. `lower` and `step` have the type of
/// the index, `trips` is an index.
struct LoopBounds {
  OpFoldResult lower, step, trips;

  bool areStatic() const { return isa<Attribute>(trips); }
};
/// What is no constant is built where `before` inserts.
LoopBounds boundsOf(scf::ForOp loop, OpBuilder &before);

/// A bound as a value of its own type.
Value asValue(OpBuilder &builder, Location loc, OpFoldResult bound);

/// The number of the iteration of a loop with these bounds, counted from 0: an index.
Value iterationNumber(OpBuilder &builder, Location loc, scf::ForOp loop, const LoopBounds &bounds);

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
TapedLoop saveOnTapes(scf::ForOp loop, const LoopBounds &bounds, ArrayRef<Saved> saved, OpBuilder &builder);

/// The value of type `type` that iteration number `iteration` saved.
Value readTape(OpBuilder &builder, Location loc, Type type, Value tape, Value iteration, ValueRange sizes);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_LOOPS_H
