// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes the callables of --check-gradients of a program. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_SESSION_GRADIENTPROGRAM_H
#define ADJOINT_LIB_RUNNER_SESSION_GRADIENTPROGRAM_H

#include "CheckGradients.h"
#include "adjoint/Runner/Executable/Executable.h"
#include "adjoint/Runtime/Host/Context.h"

namespace mlir::ad::runner {

/// The arguments whose gradients are checked: those of float type.
std::vector<size_t> floatArguments(const Signature &signature);

/// Adds a function that returns the results of the entry and its gradients with respect to `wrt`, and returns
/// its name. An error with ExitUsage if the program has no scalar to differentiate.
llvm::Expected<std::string> addGradientFunction(mlir::ModuleOp module, const Signature &signature,
                                                llvm::ArrayRef<size_t> wrt);

/// Runs two executables as the callables of a check: the entry, and the function of addGradientFunction.
class GradientRuns {
public:
  GradientRuns(const Signature &signature, std::vector<size_t> wrt, std::unique_ptr<Executable> entry,
               std::unique_ptr<Executable> gradient);
  /// Valid during the lifetime of this object.
  GradientProblem makeProblem();

private:
  llvm::Expected<std::vector<adrt_tensor>> run(Executable &executable, adrt_context &context,
                                               llvm::ArrayRef<Tensor> arguments, size_t resultCount);
  llvm::Expected<double> evaluate(llvm::ArrayRef<Tensor> arguments);
  llvm::Expected<std::vector<Tensor>> differentiate(llvm::ArrayRef<Tensor> arguments);

  const Signature &signature;
  std::vector<size_t> wrt;
  std::unique_ptr<Executable> entry, gradient;
  adrt_context entryContext, gradientContext;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_SESSION_GRADIENTPROGRAM_H
