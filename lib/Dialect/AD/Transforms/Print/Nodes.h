// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The nodes of the two text forms of a function: tensors and operations, each with a number.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_NODES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_NODES_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad::print {

/// Numbers tensor arguments first, then operations and carried tensors in the order of the program.
class Nodes {
public:
  explicit Nodes(func::FuncOp function);

  /// The value that stands for `value` in the printed text. Results and block arguments of a fusion resolve
  /// to the values that they forward. The result of an scf.for resolves to the iter_arg. If the loop updates
  /// the iter_arg in place, the result resolves to the operation that does so, and the iter_arg to its init.
  Value resolve(Value value) const;
  /// Like `resolve`, but an operation that updates a tensor in place resolves to that tensor, since both have
  /// the same number.
  Value resolveUpdates(Value value) const;
  /// The carried tensor that the operation updates in place, or null.
  Value updatedCarry(Operation *op) const;

  std::string id(Value resolved) const;
  std::string id(Operation *op) const;

private:
  void number(Operation *op);

  llvm::DenseMap<Value, int64_t> arguments;
  llvm::DenseMap<Operation *, int64_t> operations;
  int64_t next = 0;
};

/// The value that a fusion's argument or result forwards.
Value throughFusions(Value value);

/// Whether the carried tensor is the first operand of the elementwise operation that makes its next value,
/// here or in a loop that starts with it.
bool isUpdatedInPlace(BlockArgument carry);

bool isTensor(Value value);

/// Prints every function of the module, under its name when there are several.
LogicalResult printFunctions(ModuleOp module, StringRef pass, StringRef file,
                             function_ref<void(func::FuncOp, raw_ostream &)> print);

} // namespace mlir::ad::print

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_PRINT_NODES_H
