// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The program after each pass that changed it, as numbered files. Internal to traces.
#ifndef ADJOINT_LIB_RUNNER_TRACE_STAGEFILES_H
#define ADJOINT_LIB_RUNNER_TRACE_STAGEFILES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::ad::runner {

class StageFiles {
public:
  /// Files are STEM_0.mlir, STEM_0.txt, STEM_1.mlir, … in `folder`.
  StageFiles(std::string folder, std::string stem, llvm::StringRef source)
      : folder(std::move(folder)), stem(std::move(stem)), source(source) {}

  /// Writes the program, unless it is as in the last file.
  void write(ModuleOp module, llvm::StringRef stage);
  std::unique_ptr<PassInstrumentation> observePasses();
  /// The program before ad-insert-trace; null if the pass has not run.
  ModuleOp getFused() const { return fused.get(); }
  void keepFused(ModuleOp module) { fused = module.clone(); }
  /// The program that runs belongs to this context, which lives as long.
  void release() { fused = nullptr; }

  /// The files with the pass that each is after.
  llvm::json::Array toJSON() const;
  /// Why a file could not be written.
  llvm::Error takeError();

private:
  std::string folder, stem;
  llvm::StringRef source;
  std::string last; // the text of the last file
  std::vector<std::pair<std::string, std::string>> stages;
  std::string problem;
  OwningOpRef<ModuleOp> fused;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_TRACE_STAGEFILES_H
