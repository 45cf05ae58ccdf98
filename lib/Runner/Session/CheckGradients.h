// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares gradients with finite differences of the function, in f64. Function and gradient are callables:
// programs, generated tests and the tests of the check use the same code.
#ifndef ADJOINT_LIB_RUNNER_SESSION_CHECKGRADIENTS_H
#define ADJOINT_LIB_RUNNER_SESSION_CHECKGRADIENTS_H

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
  uint64_t seed = 1;       ///< of the choice of elements
};

/// The outcome for one argument.
struct GradientFinding {
  std::string name;
  int64_t checked = 0, skipped = 0, failed = 0; ///< skipped: elements at which the function has a kink
  double worst = 0;                             ///< the maximum error, relative like the tolerance
  int64_t worstIndex = -1;
  double gradient = 0, difference = 0; ///< of element `worstIndex`
};

/// Central differences at two step sizes, extrapolated to an error of fourth order (Richardson).
llvm::Expected<std::vector<GradientFinding>> checkGradients(const GradientProblem &problem,
                                                            llvm::MutableArrayRef<Tensor> arguments,
                                                            const GradientCheckOptions &options = {});

/// Prints one line per argument; false if any gradient is wrong.
bool reportGradients(llvm::raw_ostream &os, llvm::ArrayRef<GradientFinding> findings);

/// Replaces every float type of `op` and of operations in it by f64, also in constants: differences need the
/// precision. Operations in it that are there to round are replaced by what `withoutRounding` gives.
void widenToF64(mlir::Operation *op);
/// The results of `ad.scaled_dot` and `ad.cast_stochastic` in real numbers, for these operands: a contraction
/// with the largest magnitudes, and the operand. None for operations that compute in the types of their
/// operands and results.
llvm::SmallVector<mlir::Value> withoutRounding(mlir::OpBuilder &builder, mlir::Operation *op,
                                               mlir::ValueRange operands);
/// The same for a value; integers are unchanged.
llvm::Expected<Tensor> widenToF64(const Tensor &tensor);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_CHECKGRADIENTS_H
