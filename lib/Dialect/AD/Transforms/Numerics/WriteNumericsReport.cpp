// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the log of used permissions.

#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/TextFile.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-write-numerics-report"

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
    LDBG() << "the log of used permissions goes to '" << file << "'";
    if (failed(writeTextFile(getOperation(), "file of ad-write-numerics-report", file, [&](raw_ostream &os) {
          os << jsonText(NumericsLog::get(&getContext())->toJSON());
        })))
      signalPassFailure();
  }
};
} // namespace
