// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares gradients with differences of the function, in f64. What is compared is given as two callables:
// the same check serves programs, generated tests and tests of itself.
#ifndef ADJOINT_RUNNER_SESSION_CHECKGRADIENTS_H
#define ADJOINT_RUNNER_SESSION_CHECKGRADIENTS_H

#include "adjoint/Support/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace mlir::ad::runner {

struct GradientProblem {
  /// The scalar value of the function.
  std::function<llvm::Expected<double>(llvm::ArrayRef<Tensor>)> evaluate;
  /// One tensor per entry of `wrt`, of the argument's shape, in f64.
  std::function<llvm::Expected<std::vector<Tensor>>(llvm::ArrayRef<Tensor>)> gradient;
  std::vector<size_t> wrt;        ///< the arguments to check; f64
  std::vector<std::string> names; ///< of all arguments
};

struct GradientCheckOptions {
  double tolerance = 1e-6; ///< relative to the largest entry of the tensor's gradient
  double step = 1e-3;      ///< relative to the size of the element
  int64_t samples = 32;    ///< elements per tensor; all of a tensor that has no more
  uint64_t seed = 1;       ///< which elements
};

/// The outcome for one argument.
struct GradientFinding {
  std::string name;
  int64_t checked = 0, skipped = 0, failed = 0; ///< skipped: the function has a kink there
  double worst = 0;                             ///< the largest error, relative as the tolerance is
  int64_t worstIndex = -1;
  double gradient = 0, difference = 0; ///< there
};

/// Central differences at two step sizes, joined so that the error is of fourth order.
llvm::Expected<std::vector<GradientFinding>> checkGradients(const GradientProblem &problem,
                                                            llvm::MutableArrayRef<Tensor> arguments,
                                                            const GradientCheckOptions &options = {});

/// Prints one line per argument; false if any gradient is wrong.
bool reportGradients(llvm::raw_ostream &os, llvm::ArrayRef<GradientFinding> findings);

/// Makes every float type of `module`, constants included, f64: differences need the digits.
void widenToF64(mlir::ModuleOp module);
/// The same for a value; integers stay.
llvm::Expected<Tensor> widenToF64(const Tensor &tensor);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_SESSION_CHECKGRADIENTS_H
