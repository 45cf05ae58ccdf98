// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Builds and runs the gradients of a whole program. `ad.value_and_grad` is built by name, since the runner
// does not depend on our dialects.
#include "GradientProgram.h"
#include "adjoint/Runtime/Host/Context.h"
#include "adjoint/Support/Error.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <cstring>

using namespace mlir;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {

constexpr llvm::StringLiteral valueAndGrad("ad.value_and_grad");

Error checkProgram(ModuleOp module, const Signature &signature, llvm::ArrayRef<size_t> wrt) {
  if (!RegisteredOperationName::lookup(valueAndGrad, module.getContext()))
    return exitError(ExitNoTarget, "--check-gradients is not available: this build has no differentiation");
  if (signature.results.empty() || !signature.results[0].shape.empty() || !isFloat(signature.results[0].type))
    return usageError(
        "--check-gradients expects a scalar float as the first result of @" + signature.entry +
        (signature.results.empty() ? ", found none" : ", found " + formatType(signature.results[0])));
  if (wrt.empty())
    return usageError("--check-gradients expects an argument of float type, @" + signature.entry +
                      " has none");
  if (!signature.feeds.empty())
    return usageError("--check-gradients runs the program many times on the same values, but it has feed '" +
                      signature.feeds[0].name + "'; make it an argument");
  return Error::success();
}

} // namespace

std::vector<size_t> mlir::ad::runner::floatArguments(const Signature &signature) {
  std::vector<size_t> indices;
  for (auto [index, argument] : llvm::enumerate(signature.arguments))
    if (isFloat(argument.type))
      indices.push_back(index);
  return indices;
}

Expected<std::string> mlir::ad::runner::addGradientFunction(ModuleOp module, const Signature &signature,
                                                            llvm::ArrayRef<size_t> wrt) {
  if (Error error = checkProgram(module, signature, wrt))
    return std::move(error);
  auto entry = module.lookupSymbol<func::FuncOp>(signature.entry);
  // All runs get the same values, so no argument may be overwritten.
  for (unsigned index = 0; index < entry.getNumArguments(); ++index)
    entry.removeArgAttr(index, "ad.donated");
  Location loc = entry.getLoc();
  OpBuilder builder(module.getContext());
  SmallVector<Type> results(entry.getResultTypes());
  for (size_t index : wrt)
    results.push_back(entry.getArgumentTypes()[index]);
  auto function = func::FuncOp::create(loc, "ad_check_gradients",
                                       builder.getFunctionType(entry.getArgumentTypes(), results));
  SymbolTable(module).insert(function); // makes its name unique
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  OperationState call(loc, valueAndGrad);
  call.addOperands(body->getArguments());
  call.addTypes(results);
  call.addAttribute("callee", FlatSymbolRefAttr::get(entry));
  call.addAttribute("wrt", builder.getDenseI64ArrayAttr(SmallVector<int64_t>(wrt.begin(), wrt.end())));
  if (entry.getNumResults() > 1)
    call.addAttribute("has_aux", builder.getUnitAttr());
  Operation *op = builder.create(call);
  func::ReturnOp::create(builder, loc, op->getResults());
  return function.getSymName().str();
}

GradientRuns::GradientRuns(const Signature &signature, std::vector<size_t> wrt,
                           std::unique_ptr<Executable> entry, std::unique_ptr<Executable> gradient)
    : signature(signature), wrt(std::move(wrt)), entry(std::move(entry)), gradient(std::move(gradient)) {}

Expected<std::vector<adrt_tensor>> GradientRuns::run(Executable &executable, adrt_context &context,
                                                     llvm::ArrayRef<Tensor> arguments, size_t resultCount) {
  std::vector<adrt_tensor> views, results(resultCount);
  for (const Tensor &argument : arguments)
    views.push_back(argument.view());
  if (executable.run(context, views, results) == ADRT_OK)
    return results;
  const adrt::ErrorRecord &error = context.getError();
  std::string prefix = error.location.empty() ? "" : error.location + ": '" + error.operation + "' op ";
  return exitError(ExitProgramError, error.message.empty() ? "" : prefix + error.message);
}

Expected<double> GradientRuns::evaluate(llvm::ArrayRef<Tensor> arguments) {
  Expected<std::vector<adrt_tensor>> results = run(*entry, entryContext, arguments, signature.results.size());
  if (!results)
    return results.takeError();
  return *static_cast<const double *>(results->front().data);
}

Expected<std::vector<Tensor>> GradientRuns::differentiate(llvm::ArrayRef<Tensor> arguments) {
  size_t skipped = signature.results.size();
  Expected<std::vector<adrt_tensor>> results =
      run(*gradient, gradientContext, arguments, skipped + wrt.size());
  if (!results)
    return results.takeError();
  std::vector<Tensor> gradients;
  for (const adrt_tensor &view : llvm::drop_begin(*results, skipped)) {
    Expected<Tensor> copy =
        Tensor::create(static_cast<adrt_type>(view.type), {view.shape, static_cast<size_t>(view.rank)});
    if (!copy)
      return copy.takeError();
    std::memcpy(copy->getData(), view.data, static_cast<size_t>(copy->getByteSize()));
    gradients.push_back(std::move(*copy));
  }
  return std::move(gradients);
}

GradientProblem GradientRuns::makeProblem() {
  GradientProblem problem;
  problem.evaluate = [this](llvm::ArrayRef<Tensor> arguments) { return evaluate(arguments); };
  problem.gradient = [this](llvm::ArrayRef<Tensor> arguments) { return differentiate(arguments); };
  problem.wrt = wrt;
  for (const TensorSpec &argument : signature.arguments)
    problem.names.push_back(argument.name);
  return problem;
}
