// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Fusions and launches of kernels become the operations of their bodies.

#include "HostCode.h"
#include "adjoint/Conversion/PlainLinalg.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::plain;

static SmallVector<Value> cloneKernel(OpBuilder &builder, Block &body, ValueRange inputs) {
  IRMapping mapping;
  mapping.map(body.getArguments(), inputs);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value result) { return mapping.lookupOrDefault(result); });
}

// The sizes that a launch states are those of the results.
static void requireSizes(OpBuilder &builder, LaunchOp launch, ValueRange results) {
  Location loc = launch.getLoc();
  ValueRange sizes = launch.getSizes();
  for (Value result : results) {
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis))
        continue;
      Value actual = tensor::DimOp::create(builder, loc, result, axis);
      Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, actual, sizes.front());
      assertThat(builder, loc, same, launch->getName().getStringRef(), messageOf(ADRT_FAIL_RESULT));
      sizes = sizes.drop_front();
    }
  }
}

namespace {
struct InlineFusion : OpRewritePattern<FusionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(FusionOp fusion, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(fusion, cloneKernel(rewriter, fusion.getBody().front(), fusion.getInputs()));
    return success();
  }
};

struct InlineLaunch : OpRewritePattern<LaunchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LaunchOp launch, PatternRewriter &rewriter) const override {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
    if (!kernel)
      return rewriter.notifyMatchFailure(launch, "expected a kernel that is no machine code yet");
    if (!launch.getDestinations().empty())
      return rewriter.notifyMatchFailure(launch, "expected a program without a memory plan");
    SmallVector<Value> results = cloneKernel(rewriter, kernel.getBody().front(), launch.getInputs());
    requireSizes(rewriter, launch, results);
    rewriter.replaceOp(launch, results);
    return success();
  }
};
} // namespace

void ad::populateInlineKernelPatterns(RewritePatternSet &patterns) {
  patterns.add<InlineFusion, InlineLaunch>(patterns.getContext());
}
