// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pipelines as text, for embedders.
#include "ParsePasses.h"
#include "adjoint/InitAllPasses.h"
#include "adjoint/Support/Error.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

#include <mutex>

using namespace mlir;

void mlir::ad::registerPassesOnce() {
  static std::once_flag registered;
  std::call_once(registered, [] {
    ad::registerAdjointPasses();
    registerTransformsPasses();
  });
}

llvm::Error mlir::ad::parsePasses(const std::string &pipeline, PassManager &passes) {
  // As drivers take it, with the operation that it is for.
  StringRef passesOfModule = StringRef(pipeline).trim();
  if (passesOfModule.consume_front("builtin.module(") && !passesOfModule.consume_back(")"))
    return runner::usageError("expected ')' at the end of '" + pipeline + "'");
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (succeeded(parsePassPipeline(passesOfModule, passes, os)))
    return llvm::Error::success();
  // The rest of the message shows the text with a caret.
  StringRef line = StringRef(problem).split('\n').first;
  StringRef reason = line.split("error: ").second;
  return runner::usageError("there are no passes '" + pipeline + "': " + (reason.empty() ? line : reason));
}
