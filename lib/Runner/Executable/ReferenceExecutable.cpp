// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs the reference interpreter through the interface of executables.
#include "ReferenceExecutable.h"
#include "adjoint/Reference/Reference.h"
#include "adjoint/Runtime/Host/Context.h"

using namespace mlir::ad::runner;

namespace {

class ReferenceExecutable final : public Executable {
public:
  ReferenceExecutable(mlir::ModuleOp module, llvm::StringRef entry) : module(module), entry(entry.str()) {}

  int32_t run(adrt_context &context, llvm::ArrayRef<adrt_tensor> arguments,
              llvm::MutableArrayRef<adrt_tensor> results) override {
    context.resultCount = results.size();
    return context.run([&]() -> int32_t {
      int32_t status = mlir::ad::runReference(module, entry, &context, arguments, results, observer);
      // An error that is not recorded has been emitted as a diagnostic; an empty message marks it.
      return status == ADRT_OK ? ADRT_OK : context.fail(status, nullptr, "");
    });
  }

  void setObserver(mlir::ad::reference::Observer *newObserver) override { observer = newObserver; }

private:
  mlir::ModuleOp module;
  std::string entry;
  mlir::ad::reference::Observer *observer = nullptr;
};

} // namespace

std::unique_ptr<Executable> mlir::ad::runner::makeReference(mlir::ModuleOp module, llvm::StringRef entry) {
  return std::make_unique<ReferenceExecutable>(module, entry);
}
