// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What `--debug-only` shows of a pass that rewrites by patterns: each pattern that was applied and each
// refusal with its reason. A remark tells how often each was applied. The pattern drivers of the packaged
// LLVM print nothing, since it is built without assertions.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_PATTERNLOG_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_PATTERNLOG_H

#include "mlir/IR/PatternMatch.h"

#include <map>

namespace mlir::ad {

/// The name of the pattern: that of an upstream pattern, or of a canonicalization, is its class.
StringRef patternName(const Pattern &pattern);

/// A listener for a pattern driver. It prints in builds with assertions, and only when the debug type is on.
struct PatternLog : RewriterBase::Listener {
  explicit PatternLog(const char *debugType) : debugType(debugType) {}

  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override;
  void notifyMatchFailure(Location loc, function_ref<void(Diagnostic &)> reason) override;

  /// Emits a remark of the category of the debug type for each pattern, with the number of its rewrites.
  void report(Operation *root) const;

  const char *debugType;

private:
  std::map<StringRef, int64_t> applied;
};

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_PATTERNLOG_H
