// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the log of used permissions.

#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

namespace mlir::ad {
#define GEN_PASS_DEF_WRITENUMERICSREPORTPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
struct WriteNumericsReportPass : ad::impl::WriteNumericsReportPassBase<WriteNumericsReportPass> {
  using WriteNumericsReportPassBase::WriteNumericsReportPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    WriteNumericsReportPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    std::string error;
    std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(file, &error);
    if (!output) {
      getOperation()->emitError() << error;
      return signalPassFailure();
    }
    NumericsLog::get(&getContext())->writeJson(output->os());
    output->os().close();
    if (std::error_code code = output->os().error()) {
      output->os().clear_error(); // LLVM's stream would end the process
      getOperation()->emitError() << "cannot write '" << file << "': " << code.message();
      return signalPassFailure();
    }
    output->keep();
  }
};
} // namespace
