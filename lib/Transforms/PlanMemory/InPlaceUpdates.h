// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Updates in place: the values inside of a loop or branch that are written directly into the buffer of the
// carry or result that they are yielded to.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_INPLACEUPDATES_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_INPLACEUPDATES_H

#include "Overwrite.h"
#include "Pools.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ad {

/// A value is written into the buffer of its carry or result only if the old value in the buffer is dead, and
/// if both have the same size at run time.
class InPlaceUpdates {
public:
  InPlaceUpdates(OverwriteAnalysis &overwrites, PoolAnalysis &pools) : overwrites(overwrites), pools(pools) {}

  /// Chooses among the values that the loop yields; `carries` are the buffers of its carries, or -1. All
  /// updates of a sequence are in place if each one is dead after the next.
  void chooseInLoop(scf::ForOp loop, ArrayRef<int64_t> carries);
  /// Chooses among the values that one side of a branch yields.
  void chooseInBranch(Block &block, ValueRange results, ArrayRef<int64_t> buffers);

  /// The buffer that was chosen for the value; -1 for none.
  int64_t bufferOf(Value value) const { return chosen.lookup_or(value, -1); }

private:
  bool tryCarry(Value value, BlockArgument argument, int64_t carry);
  bool tryBothSides(scf::IfOp branch, unsigned number, int64_t buffer);
  bool diesBefore(Value value, Operation *writer, int64_t buffer, bool inBlock = false);
  bool mayWriteOver(OpOperand &use, Value value, int64_t buffer);

  OverwriteAnalysis &overwrites;
  PoolAnalysis &pools;
  DenseMap<Value, int64_t> chosen;
  /// Branches, and values from outside that they update in place on both sides.
  llvm::DenseSet<std::pair<Operation *, Value>> updatedInside;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_INPLACEUPDATES_H
