// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Computes single operations of a program in f64.
#ifndef ADJOINT_RUNNER_TRACE_WIDEEVALUATOR_H
#define ADJOINT_RUNNER_TRACE_WIDEEVALUATOR_H

#include "adjoint/Reference/BlockRunner.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::ad::runner {

/// The value of an element as f64, exact but for large 64-bit integers.
double elementAt(const reference::Tensor &tensor, int64_t element);
bool isFloat(const reference::Tensor &tensor);
/// The same numbers as f64; a tensor of integers is returned as it is.
reference::Tensor widen(const reference::Tensor &tensor);

class WideEvaluator {
public:
  explicit WideEvaluator(ModuleOp module) : runner(module) {}

  /// Whether rounding errors of operands change the results of `op`, or `op` rounds. Others give exact
  /// numbers: constants, feeds, random numbers.
  static bool computes(Operation *op);

  /// The results of `op` for operands in f64. Fails if the operation does not run in f64.
  FailureOr<SmallVector<reference::Tensor>> evaluate(Operation *op, ArrayRef<reference::Tensor> operands);

  /// Operations that do not run in f64, with the reason.
  const std::vector<std::string> &getFailures() const { return failures; }

private:
  Block &wideForm(Operation *op);

  reference::BlockRunner runner;
  llvm::DenseMap<Operation *, std::unique_ptr<Block>> forms;
  llvm::DenseSet<Operation *> refused;
  std::vector<std::string> failures;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_WIDEEVALUATOR_H
