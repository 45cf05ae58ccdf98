// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The reverse of straight-line code, branches and loops: from the cotangents of results to those of what they
// came from.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_REVERSE_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_REVERSE_H

#include "Activity.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::ad {
/// The contributions to the cotangents of values in one scope: a function, a branch or an iteration.
class Cotangents {
public:
  void add(Value of, Value contribution) { contributions[of].push_back(contribution); }
  /// One contribution per value, in program order; null contributions are left out.
  void addInOrder(ValueRange of, ValueRange added);

  /// The sum of all contributions, null when there is none. They arrive from the last use to the first and
  /// are added from the first to the last: the order of the sum is the order of the uses in the program.
  Value take(OpBuilder &builder, Location loc, Value of);

private:
  llvm::DenseMap<Value, SmallVector<Value, 2>> contributions;
};

class Reverser {
public:
  /// The pieces of a reverse loop while it is being built.
  struct ReverseLoop;

  explicit Reverser(Activity &activity) : activity(activity) {}

  /// Reverses operations of one block, last to first. The forward values must be visible at the insertion
  /// point.
  LogicalResult reverse(ArrayRef<Operation *> ops, Cotangents &cotangents, OpBuilder &builder);

private:
  LogicalResult reverseByRule(Operation *op, Cotangents &cotangents, OpBuilder &builder);
  LogicalResult reverseIf(scf::IfOp branch, Cotangents &cotangents, OpBuilder &builder);
  LogicalResult reverseFor(scf::ForOp loop, Cotangents &cotangents, OpBuilder &builder);
  LogicalResult reverseIteration(ReverseLoop &state, OpBuilder &builder);

  /// Copies the operations of a block without its terminator and without effects that give nothing back: what
  /// the host has received once it does not receive again. Operations that `copies` has already mapped are
  /// left out.
  SmallVector<Operation *> recompute(Block &block, IRMapping &copies, OpBuilder &builder);
  LogicalResult reverseBranch(Block &block, ValueRange resultCotangents, ArrayRef<Value> captured,
                              OpBuilder &builder);

  Activity &activity;
};

/// Erases operations whose results nobody uses, in nested regions too; values that disappear are forgotten.
void eraseDead(Block &block, Activity *activity);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_REVERSE_H
