// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The program after each pass that changed it, as numbered files. Internal to traces.
#ifndef ADJOINT_LIB_RUNNER_TRACE_STAGEFILES_H
#define ADJOINT_LIB_RUNNER_TRACE_STAGEFILES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::ad::runner {

class ObservedRun;

class StageFiles {
public:
  /// Files are STEM_0.mlir, STEM_0.txt, STEM_1.mlir, … in `folder`.
  StageFiles(std::string folder, std::string stem, llvm::StringRef source)
      : folder(std::move(folder)), stem(std::move(stem)), source(source) {}

  /// Writes the program, unless it is as in the last file.
  void write(ModuleOp module, llvm::StringRef stage);
  /// Shows all passes to `run`, too.
  std::unique_ptr<PassInstrumentation> observePasses(ObservedRun &run);

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
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_TRACE_STAGEFILES_H
