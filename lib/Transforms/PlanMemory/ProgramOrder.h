// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The order of execution of a host program, in which lifetimes are intervals.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PROGRAMORDER_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PROGRAMORDER_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {

/// Numbers operations in the order of execution; an operation with regions has one number on entry and one on
/// exit. Valid as long as no operation moves.
class ProgramOrder {
public:
  explicit ProgramOrder(func::FuncOp function) { number(function.getBody().front()); }

  int64_t numberOf(Operation *op) const { return numbers.lookup(op).first; }
  int64_t endOf(Operation *op) const { return numbers.lookup(op).second; }
  /// The number until which the use keeps a value alive that is defined in the block.
  int64_t endOfUse(OpOperand &use, Block *definingBlock) const;
  Operation *getOperation(int64_t number) const { return operations[number]; }
  int64_t getEnd() const { return operations.size(); }

private:
  void number(Block &block);

  DenseMap<Operation *, std::pair<int64_t, int64_t>> numbers;
  SmallVector<Operation *> operations; // by number
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PROGRAMORDER_H
