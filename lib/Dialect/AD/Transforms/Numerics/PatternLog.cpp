// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Debug output of passes that rewrite by patterns.

#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

using namespace mlir;
using namespace mlir::ad;

StringRef ad::patternName(const Pattern &pattern) {
  StringRef name = pattern.getDebugName();
  // Of a template, the arguments too: (anonymous namespace)::DropZero<mlir::ad::AddOp>.
  size_t arguments = std::min(name.find('<'), name.size());
  size_t scope = name.take_front(arguments).rfind("::");
  return scope == StringRef::npos ? name : name.drop_front(scope + 2);
}

void PatternLog::notifyPatternEnd(const Pattern &pattern, LogicalResult status) {
  if (failed(status))
    return;
  LDBG(debugType, 1) << pattern.getDebugName() << " was applied";
  ++applied[patternName(pattern)];
}

void PatternLog::report(Operation *root) const {
  for (auto [name, count] : applied)
    remark::analysis(root->getLoc(), remark::RemarkOpts::name("applied-pattern").category(debugType))
        << remark::metric("pattern", name) << remark::metric("count", count);
}

void PatternLog::notifyMatchFailure(Location loc, function_ref<void(Diagnostic &)> reason) {
  LDBG_OS(debugType, 1, [&](raw_ostream &os) {
    Diagnostic diagnostic(loc, DiagnosticSeverity::Remark);
    reason(diagnostic);
    os << loc << ": " << diagnostic.str();
  });
}
