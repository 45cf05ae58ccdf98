// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Parts of a program as programs: some operations of a block, with the values of a run in place of all
// others. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_PROGRAMSLICE_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_PROGRAMSLICE_H

#include "adjoint/Reference/Observer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::ad::diff {

/// Which execution of a block counts.
enum class Occasion { First, Last };

/// Records the values that the operations of a block compute and read.
class BlockValues final : public reference::Observer {
public:
  BlockValues(Block *block, Occasion occasion) : block(block), occasion(occasion) {}

  int32_t ran(Operation *op, ArrayRef<reference::Tensor> operands,
              ArrayRef<reference::Tensor> results) override;
  /// Null if no operation computed or read it.
  const reference::Tensor *find(Value value) const;

private:
  void keep(Value value, const reference::Tensor &tensor);

  Block *block;
  Occasion occasion;
  llvm::DenseMap<Value, reference::Tensor> values;
};

struct ProgramSlice {
  struct Argument {
    std::string name;
    reference::Tensor value;
    std::string source; ///< of ad-runner, in place of the value, if it is not empty
  };
  OwningOpRef<ModuleOp> module; ///< null if the operations compute nothing that others read
  std::vector<Argument> arguments;
  /// By result: which of the given operations or groups computes it.
  std::vector<size_t> producers;
};

/// Whether it is a constant; null is none.
bool isConstant(Operation *op);
/// The module around `entry` without it.
OwningOpRef<ModuleOp> cloneWithoutEntry(func::FuncOp entry);

/// The operations of `block` that a slice may have or leave out: those with results, without constants, and
/// without values of the host, which are arguments of a slice.
std::vector<Operation *> sliceUnits(Block &block);

/// The program with these operations of one block, in their order. It has the name and the contract of
/// `entry`, the function around the block. Results are the tensors that operations outside of it read.
/// Scalars from outside become constants, tensors arguments: a compiled function neither takes nor returns
/// scalars.
ProgramSlice makeSlice(func::FuncOp entry, ArrayRef<Operation *> operations, const BlockValues &values);

/// Operations of one block in their order.
using OperationGroup = std::vector<Operation *>;

/// All these groups side by side: each reads recorded values, and what its last operation computes are
/// results. So one run shows which of them differ by themselves. Groups that did not run are left out.
ProgramSlice makeIsolated(func::FuncOp entry, ArrayRef<OperationGroup> groups, const BlockValues &values);

/// The derivatives of these groups of one operation each, for random cotangents. Results are the cotangents
/// of the operands. Only operations for which `hasDerivative` holds.
ProgramSlice makeDerivatives(func::FuncOp entry, ArrayRef<OperationGroup> groups, const BlockValues &values);
/// Whether a slice may have the derivative: the operation has a rule, no regions, and only tensors of static
/// shape, some of them of floats.
bool hasDerivative(Operation *op);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_REDUCE_PROGRAMSLICE_H
