// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Lists the rewrites that a compilation applies, and can switch single ones off: what `ad-runner
// --list-rewrites`, `--rewrites-except` and `ad-diff bisect` use. Every decision that may change bits asks
// `allowsRewrite`: patterns, uses of permissions in lowerings, casts of ad-autocast.

#ifndef ADJOINT_DIALECT_AD_IR_REWRITECONTROL_H
#define ADJOINT_DIALECT_AD_IR_REWRITECONTROL_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/PatternMatch.h"

#include <mutex>
#include <set>

namespace mlir::ad {

/// A rewrite, identified by all members but the pass. Two applications of one pattern to operations of one
/// name that were written at one location are one rewrite: both are on or off. So the identity does not
/// depend on other rewrites.
struct Rewrite {
  std::string name;       ///< the pattern or lowering, in kebab case
  std::string permission; ///< that it uses; "none" if it keeps all bits, or a word for what else allows it
  std::string operation;  ///< with its dialect: ad.exp
  std::string location;   ///< FILE:LINE:COLUMN of the operation, or what MLIR prints without one
  std::string pass = "";  ///< the first one that applied it; empty if that is not known

  bool operator<(const Rewrite &other) const {
    return std::tie(name, permission, operation, location) <
           std::tie(other.name, other.permission, other.operation, other.location);
  }
  bool operator==(const Rewrite &other) const { return !(*this < other) && !(other < *this); }
};

/// Rewrites as lines of text with four columns, separated by tabs, and a line with their names first. The
/// pass is a fifth column.
std::string formatRewrites(const std::set<Rewrite> &rewrites, bool withPass = false);
/// Reads such lines, with or without passes. Empty lines and lines that begin with # do not count. On failure
/// sets `error`.
FailureOr<std::set<Rewrite>> parseRewrites(StringRef text, std::string &error);

/// One for each context that wants it, safe under multithreaded passes.
class RewriteControl : public DialectInterface::Base<RewriteControl> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RewriteControl)

  explicit RewriteControl(Dialect *dialect) : Base(dialect) {}

  /// Gives the context a control that allows all rewrites.
  static RewriteControl &attach(MLIRContext *context);
  /// Null if the context has none.
  static RewriteControl *get(MLIRContext *context);

  void allowOnly(std::set<Rewrite> rewrites);
  void allowAllExcept(std::set<Rewrite> rewrites);

  /// Whether the rewrite may be applied. If so, it counts as applied by the pass that this thread runs.
  bool allows(Rewrite rewrite);
  /// To be called before and after each pass, in its thread.
  static void enterPass(StringRef argument);
  static void leavePass();

  std::set<Rewrite> getApplied() const;

private:
  mutable std::mutex mutex;
  std::set<Rewrite> listed, applied;
  bool listedOnly = false;
};

/// Whether `name` may be applied to `op`, which has the permissions that it uses (Permissions.h). The caller
/// then does so. Without a control, all may.
bool allowsRewrite(StringRef name, Permissions used, Operation *op);
/// The same for a rewrite that something else than a permission allows, such as a policy of mixed precision.
bool allowsRewrite(StringRef name, StringRef allowedBy, Operation *op);
/// The same for patterns, which refuse with a reason.
LogicalResult requireAllowed(RewriterBase &rewriter, StringRef name, Permissions used, Operation *op);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_REWRITECONTROL_H
