// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that the compiler computes itself, since their operands are constants. No run of the compiled
// program shows them.
#ifndef ADJOINT_RUNNER_TRACE_FOLDEDOPERATIONS_H
#define ADJOINT_RUNNER_TRACE_FOLDEDOPERATIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ad::runner {

class NonFiniteFinder;
class ObservedRun;

class FoldedOperations {
public:
  /// `written` is the program before its simplification. Both must live as long as this.
  FoldedOperations(ModuleOp written, ModuleOp compiled);

  /// Whether the compiler may have folded an operation of the written program.
  bool contains(Operation *op) const { return folded.contains(op); }
  bool empty() const { return folded.empty(); }
  /// The operation of the written program at the place of a constant of the compiled one: a rewrite of it
  /// made the constant. Null if the constant was written, or folded.
  Operation *findMaker(Operation *constant) const;

private:
  bool isConstant(Operation *op);

  llvm::DenseMap<Operation *, bool> constants;
  llvm::DenseSet<Operation *> folded;
  llvm::StringMap<Operation *> makers;
};

/// Lets the finder see the operations that were folded: before the compiled program, it examines the written
/// one. To be called before the program is compiled.
void observeFolded(ObservedRun &run, NonFiniteFinder &finder);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_FOLDEDOPERATIONS_H
