// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions between indices and integers that cancel.

#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::ad;

static unsigned widthOf(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
}

namespace {
// The pattern of MLIR also drops casts to a narrower integer and back, which change the number.
struct DropIndexCasts : OpRewritePattern<arith::IndexCastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::IndexCastOp cast, PatternRewriter &rewriter) const override {
    auto first = cast.getIn().getDefiningOp<arith::IndexCastOp>();
    if (!first || first.getIn().getType() != cast.getType() || isa<ShapedType>(cast.getType()))
      return rewriter.notifyMatchFailure(cast, "expected a scalar that is cast to another type and back");
    if (widthOf(first.getType()) < widthOf(cast.getType()))
      return rewriter.notifyMatchFailure(cast, "expected a type in between that is as wide");
    rewriter.replaceOp(cast, first.getIn());
    return success();
  }
};
} // namespace

void ad::populateIndexPatterns(RewritePatternSet &patterns) {
  patterns.add<DropIndexCasts>(patterns.getContext());
}
