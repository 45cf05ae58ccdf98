// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What --trace and tools see of a compilation and of a run.
#ifndef ADJOINT_RUNNER_SESSION_TRACER_H
#define ADJOINT_RUNNER_SESSION_TRACER_H

#include "adjoint/Runner/Executable/Executable.h"
#include "adjoint/Runner/IO/Bindings.h"
#include "adjoint/Runner/IO/Report.h"

#include <functional>

namespace mlir {
class ModuleOp;
class PassInstrumentation;
} // namespace mlir

namespace mlir::ad::runner {

/// Sees a program while it is compiled.
class CompilationObserver {
public:
  virtual ~CompilationObserver() = default;

  /// The program as it was parsed.
  virtual void parsed(mlir::ModuleOp module) = 0;
  /// Sees the program after each pass.
  virtual std::unique_ptr<PassInstrumentation> observePasses() = 0;
  /// Keeps a compiled program with its context, which the observer may refer to.
  virtual void keep(std::shared_ptr<void> program) = 0;
  /// Whether the compiled program sends the results of all fusions to the host, with the name kTraceName.
  virtual bool needsKernelResults() const { return false; }
};

class Tracer : public CompilationObserver {
public:
  /// An error if the trace cannot be written. Comes before everything else.
  virtual llvm::Error open() = 0;
  bool needsKernelResults() const override { return true; }
  /// The program is about to run with these inputs. The tracer stops its own work once `interrupted`, which
  /// may be empty, returns true.
  virtual llvm::Error start(const Signature &signature, Bindings &bindings, Executable &executable,
                            const std::function<bool()> &interrupted) = 0;
  /// The program has got a value of a feed. Returns a status of adrt.h.
  virtual int32_t fed(const char *name, const adrt_tensor &value, std::string &error) = 0;
  /// The program has sent values. Returns a status of adrt.h.
  virtual int32_t received(const char *name, llvm::ArrayRef<adrt_tensor> values, std::string &error) = 0;
  /// The run has ended with that status and that error. The trace is complete after this call.
  virtual llvm::Error finish(int32_t status, const adrt::ErrorRecord &error,
                             llvm::ArrayRef<adrt_tensor> results, const Report &report) = 0;
  /// What is strange about a complete trace; empty if nothing is.
  virtual std::string getWarning() const { return {}; }
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_SESSION_TRACER_H
