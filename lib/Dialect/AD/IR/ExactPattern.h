// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of canonicalization patterns, which need no permission since they keep every bit.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_EXACTPATTERN_H
#define ADJOINT_LIB_DIALECT_AD_IR_EXACTPATTERN_H

#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::ad {

template <typename OpT> class ExactPattern : public OpRewritePattern<OpT> {
public:
  /// `name` identifies the pattern in remarks and in lists of rewrites: what it does, in kebab case.
  ExactPattern(MLIRContext *context, StringRef name) : OpRewritePattern<OpT>(context) {
    this->setDebugName(name);
  }

protected:
  /// To be called when all else holds: the rewrite then counts as applied.
  LogicalResult requireAllowed(PatternRewriter &rewriter, OpT op) const {
    return ad::requireAllowed(rewriter, this->getDebugName(), Permissions::none, op);
  }
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_EXACTPATTERN_H
