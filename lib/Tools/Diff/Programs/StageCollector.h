// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of a program between passes that the reference interpreter can run. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_STAGECOLLECTOR_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_STAGECOLLECTOR_H

#include "adjoint/Runner/Session/Tracer.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <mutex>

namespace mlir::ad::diff {

/// A program after a pass.
struct ProgramStage {
  std::string name; ///< of the pass
  std::string text;
  OwningOpRef<ModuleOp> module;
};

/// Collects the program after each pass from differentiation on, after which it has no operation without
/// semantics, up to linalg, which the interpreter does not run.
class StageCollector final : public runner::CompilationObserver {
public:
  void parsed(ModuleOp) override {}
  std::unique_ptr<PassInstrumentation> observePasses() override;
  void keep(std::shared_ptr<void> program) override { kept = std::move(program); }

  /// Called after each pass, on any thread.
  void passed(llvm::StringRef pass, Operation *op);

  std::shared_ptr<void> kept; // the context of the copies
  std::vector<ProgramStage> stages;

private:
  std::mutex mutex;
  std::string name; ///< of the last pass that may have changed the program
  bool differentiated = false, ended = false;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_STAGECOLLECTOR_H
