// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#include "RewriteLists.h"
#include "../IO/InputFile.h"
#include "../Session/Replay.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Support/Error.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;

namespace {
/// Tells the list of rewrites which pass runs.
struct PassNamer final : PassInstrumentation {
  void runBeforePass(Pass *pass, Operation *) override { RewriteControl::enterPass(pass->getArgument()); }
  void runAfterPass(Pass *, Operation *) override { RewriteControl::leavePass(); }
  void runAfterPassFailed(Pass *, Operation *) override { RewriteControl::leavePass(); }
};
} // namespace

Error mlir::ad::runner::controlRewrites(MLIRContext *context, const Options &options) {
  if (!controlsRewrites(options))
    return Error::success();
  RewriteControl &control = RewriteControl::attach(context);
  bool only = !options.rewritesOnly.empty();
  const std::string &file = only ? options.rewritesOnly : options.rewritesExcept;
  if (file.empty())
    return Error::success();
  auto text = readInput(file, [](StringRef) -> Expected<uint64_t> { return 0; });
  if (!text)
    return text.takeError();
  std::string list = (*text)->getBuffer().str();
  if (!options.replayFolder.empty())
    list = moveRewrites(list, llvm::sys::path::filename(options.input), options.input);
  std::string problem;
  FailureOr<std::set<Rewrite>> rewrites = parseRewrites(list, problem);
  if (failed(rewrites))
    return usageError("'" + file + "': " + problem);
  if (only)
    control.allowOnly(std::move(*rewrites));
  else
    control.allowAllExcept(std::move(*rewrites));
  return Error::success();
}

std::string mlir::ad::runner::listRewrites(MLIRContext *context, const Options &options) {
  if (!controlsRewrites(options))
    return "";
  return formatRewrites(RewriteControl::attach(context).getApplied(), /*withPass=*/true);
}

std::unique_ptr<PassInstrumentation> mlir::ad::runner::observeRewrites() {
  return std::make_unique<PassNamer>();
}
