// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Debug output of passes that rewrite by patterns.

#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "llvm/Support/DebugLog.h"

using namespace mlir;
using namespace mlir::ad;

void PatternLog::notifyPatternEnd(const Pattern &pattern, LogicalResult status) {
  if (succeeded(status))
    LDBG(debugType, 1) << pattern.getDebugName() << " was applied";
}

void PatternLog::notifyMatchFailure(Location loc, function_ref<void(Diagnostic &)> reason) {
  LDBG_OS(debugType, 1, [&](raw_ostream &os) {
    Diagnostic diagnostic(loc, DiagnosticSeverity::Remark);
    reason(diagnostic);
    os << loc << ": " << diagnostic.str();
  });
}
