// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base class of all rewrite patterns of Adjoint. A rewrite happens only if all operations that it touches
// have the permissions that it needs, and each use of a permission is recorded. A pattern cannot bypass the
// check, since `matchAndRewrite` is final.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_NUMERICSPATTERN_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_NUMERICSPATTERN_H

#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ad {
namespace detail {
/// Refuses when one of `touched` lacks one of the `needed` permissions; else rewrites, gives new operations
/// the permissions that all of `touched` have, and records the use. The first of `touched` is the root.
LogicalResult rewriteWithPermissions(PatternRewriter &rewriter, ArrayRef<Operation *> touched,
                                     StringRef pattern, Permissions needed, function_ref<void()> rewrite);

/// `needs=PERMISSION|…`: with which debug label a pattern says what it needs. Lives as long as the process.
StringRef permissionsLabel(Permissions needed);
} // namespace detail

template <typename OpTy> class NumericsPattern : public OpRewritePattern<OpTy> {
public:
  /// `name` identifies the pattern in remarks and reports: what it does, in kebab case.
  NumericsPattern(MLIRContext *context, StringRef name, Permissions needed = Permissions::none,
                  PatternBenefit benefit = 1)
      : OpRewritePattern<OpTy>(context, benefit), name(name), needed(needed) {
    this->setDebugName(name);
    this->addDebugLabels({OpTy::getOperationName(), detail::permissionsLabel(needed)});
  }

  /// What the rewrite may change about its operations; none: the results keep their bits.
  Permissions permissions() const { return needed; }

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const final {
    SmallVector<Operation *> touched = {op};
    if (failed(match(op, touched, rewriter)))
      return failure();
    return detail::rewriteWithPermissions(rewriter, touched, name, needed, [&] { rewrite(op, rewriter); });
  }

protected:
  /// Whether the pattern applies. Appends every other operation whose result or rounding the rewrite changes
  /// or leaves out to `touched`. Changes nothing; refuses with notifyMatchFailure.
  virtual LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &touched,
                              PatternRewriter &rewriter) const = 0;

  /// Does it; only called after `match`, and cannot fail any more.
  virtual void rewrite(OpTy op, PatternRewriter &rewriter) const = 0;

private:
  StringRef name;
  Permissions needed;
};
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_NUMERICSPATTERN_H
