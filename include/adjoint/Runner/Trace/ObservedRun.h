// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shows a run on any target to an observer of the reference interpreter. After the run of a compiled program,
// the interpreter repeats it with the results that its kernels had, so that values inside of kernels are
// those of the interpreter for the operands of the kernel. Kernels are not changed (decision 0025).
#ifndef ADJOINT_RUNNER_TRACE_OBSERVEDRUN_H
#define ADJOINT_RUNNER_TRACE_OBSERVEDRUN_H

#include "adjoint/Reference/Observer.h"
#include "adjoint/Runner/Session/Tracer.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir {
class Pass;
} // namespace mlir

namespace mlir::ad::runner {

class TensorQueue;

/// An observer of the program as it was before its simplification.
struct WrittenProgramWatch {
  /// Gives the observer, or null if it need not see the program.
  std::function<reference::Observer *(ModuleOp written, ModuleOp compiled)> begin;
  std::function<void()> end; ///< after that run
};

class ObservedRun final : public Tracer {
public:
  ObservedRun(Target target, reference::Observer &observer);
  ~ObservedRun() override;

  /// The folder of a file without a name that has the results of kernels; by default that of temporary files.
  void setFolder(std::string newFolder) { folder = std::move(newFolder); }
  /// Interprets the program before its simplification, too, before the compiled one. On the target
  /// `reference` both are one.
  void alsoObserveWritten(WrittenProgramWatch watch) { writtenWatch = std::move(watch); }
  /// Called before each pass by a tracer that has an instrumentation of its own.
  void beforePass(Pass *pass, Operation *op);
  /// How many results of kernels have other bits than the interpreter computes.
  uint64_t countDifferent() const { return different; }

  llvm::Error open() override { return llvm::Error::success(); }
  void parsed(ModuleOp) override {}
  std::unique_ptr<PassInstrumentation> observePasses() override;
  void keep(std::shared_ptr<void> program) override { kept = std::move(program); }
  llvm::Error start(const Signature &signature, Bindings &bindings, Executable &executable,
                    const std::function<bool()> &interrupted) override;
  int32_t fed(const char *, const adrt_tensor &, std::string &) override { return ADRT_OK; }
  int32_t received(const char *name, llvm::ArrayRef<adrt_tensor> values, std::string &error) override;
  llvm::Error finish(int32_t status, const adrt::ErrorRecord &error, llvm::ArrayRef<adrt_tensor> results,
                     const Report &report) override;

private:
  /// Runs a program on the interpreter with the values of the run; gives its status.
  int32_t interpret(ModuleOp module, reference::Observer &shownTo, std::string &error);
  llvm::Error interpretWritten();

  Target target;
  reference::Observer &observer;
  WrittenProgramWatch writtenWatch;
  bool stopped = false; ///< by an interrupt
  std::string folder;
  std::shared_ptr<void> kept;    // the context of the program, declared before its clone
  OwningOpRef<ModuleOp> fused;   // the program before ad-insert-trace
  OwningOpRef<ModuleOp> written; // the program before its simplification, if it is wanted
  std::unique_ptr<TensorQueue> queue;
  Signature signature;
  Bindings *bindings = nullptr;
  std::vector<Tensor> arguments; // as they were before the run
  std::function<bool()> interrupted;
  uint64_t different = 0;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_TRACE_OBSERVEDRUN_H
