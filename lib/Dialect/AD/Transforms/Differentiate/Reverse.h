// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The reverse of straight-line code, branches and loops: from the cotangents of results to the cotangents of
// operands.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_REVERSE_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_REVERSE_H

#include "Activity.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::ad {
/// The type in which the cotangents of a value are added: its own, or f32 for values of 8 and 16 bits.
enum class SumType { ofValue, f32 };

/// The contributions to the cotangents of values in one scope: a function, a branch or an iteration. They
/// have the type of the value, or that of its sum if loops and branches have added them.
class Cotangents {
public:
  explicit Cotangents(SumType sums) : sums(sums) {}

  void add(Value of, Value contribution) { contributions[of].push_back({contribution, nullptr, {}}); }
  /// One contribution per value, in program order; null contributions are left out.
  void addInOrder(ValueRange of, ValueRange added);
  /// The contribution of a use that reads only a part of the value. It is built once the sum
  /// is known that it is added to.
  void addPart(OpOperand &use, ArrayRef<Value> resultCotangents);
  /// Sets the sum so far; later contributions are added to it.
  void continueFrom(Value of, Value sum) { sumsSoFar[of] = sum; }

  /// The sum of all contributions, null when there is none. They arrive from the last use to the first. The
  /// sum starts with the first contribution to the whole value; the others follow in the order of their uses,
  /// parts in place. It is added to the sum so far. If all contributions are parts, they are added to the sum
  /// so far one by one. A sum in f32 is rounded to the type of the value.
  Value take(OpBuilder &builder, Location loc, Value of);
  /// The same in the type of the sum, for a loop or branch whose sum goes on.
  Value takeSum(OpBuilder &builder, Location loc, Value of);

  /// The type in which the cotangents of the value are added, and a sum of none.
  Type sumTypeOf(Value of) const;
  Value zeroSum(OpBuilder &builder, Location loc, Value of) const;
  SumType getSumType() const { return sums; }

private:
  /// A value, or the contribution of a use to the part that it reads.
  struct Contribution {
    Value value;
    OpOperand *use;
    SmallVector<Value, 1> resultCotangents;

    /// Gives a sum of that type; `sum` has it too, or is null.
    Value addTo(Value sum, Type type, OpBuilder &builder, Location loc) const;
  };

  Value takeIn(Type type, OpBuilder &builder, Location loc, Value of);
  /// Whether the type of the sum may matter: a sum of two is rounded once in any type.
  bool dependsOnSumType(Value of) const;
  void reportSum(Value of, size_t count) const;

  SumType sums;
  llvm::DenseMap<Value, SmallVector<Contribution, 2>> contributions;
  llvm::DenseMap<Value, Value> sumsSoFar;
};

class Reverser {
public:
  /// The parts of a reverse loop while it is being built.
  struct ReverseLoop;

  explicit Reverser(Activity &activity) : activity(activity) {}

  /// Reverses operations of one block, last to first. The forward values must be visible at the insertion
  /// point.
  LogicalResult reverse(ArrayRef<Operation *> ops, Cotangents &cotangents, OpBuilder &builder);

private:
  LogicalResult reverseByRule(Operation *op, Cotangents &cotangents, OpBuilder &builder);
  LogicalResult reverseIf(scf::IfOp branch, Cotangents &cotangents, OpBuilder &builder);
  LogicalResult reverseFor(scf::ForOp loop, Cotangents &cotangents, OpBuilder &builder);
  LogicalResult reverseIteration(ReverseLoop &state, SumType sumType, OpBuilder &builder);

  /// Copies the operations of a block without its terminator and without effects that have no results: the
  /// host does not receive a value twice. Operations that `copies` has already mapped are
  /// left out.
  SmallVector<Operation *> recompute(Block &block, IRMapping &copies, OpBuilder &builder);
  LogicalResult reverseBranch(Block &block, ValueRange resultCotangents, ArrayRef<Value> captured,
                              ArrayRef<Value> sumsSoFar, SumType sumType, OpBuilder &builder);

  /// For each captured value of which the regions of `op` read only parts, the sum of its cotangent that they
  /// add to: what later uses contribute, or zeros. Null for the other values.
  SmallVector<Value> takeSumsOfParts(Operation *op, ArrayRef<Value> captured, Cotangents &cotangents,
                                     OpBuilder &builder);
  bool readsOnlyParts(Operation *op, Value captured);

  Activity &activity;
};

/// Passes on the cotangents of values that a loop or a branch captures: new contributions, or sums that it
/// has continued.
void addSums(Cotangents &cotangents, ArrayRef<Value> captured, ArrayRef<Value> sumsSoFar, ValueRange sums);

/// Whether the operation reads only a part of the operand.
bool readsPart(OpOperand &use);

/// Erases operations whose results nobody uses, in nested regions too; values that disappear are forgotten.
void eraseDead(Block &block, Activity *activity);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_REVERSE_H
