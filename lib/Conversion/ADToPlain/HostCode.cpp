// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of a host program as those of upstream.

#include "HostCode.h"
#include "adjoint/Conversion/PlainLinalg.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/LocationText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::plain;

StringRef plain::messageOf(int32_t kind) {
  switch (kind) {
  case ADRT_FAIL_BROADCAST:
    return "sizes of a dimension do not broadcast";
  case ADRT_FAIL_SAME_SIZE:
    return "sizes of a dimension differ";
  case ADRT_FAIL_BOUNDS:
    return "an index is out of bounds";
  case ADRT_FAIL_NEGATIVE:
    return "a size is negative";
  case ADRT_FAIL_RESHAPE:
    return "the number of elements changes";
  case ADRT_FAIL_CARRY:
    return "a loop changes the size of a carried tensor";
  case ADRT_FAIL_STEP:
    return "requires a positive step";
  case ADRT_FAIL_DIVISION:
    return "divides by zero";
  case ADRT_FAIL_CLASS:
    return "a class number is no class";
  case ADRT_FAIL_OPERAND:
    return "operands have other sizes for one loop";
  case ADRT_FAIL_OPERAND_BOUNDS:
    return "an index of a map is outside of its operand";
  case ADRT_FAIL_RESULT:
    return "a result has another size than 'sizes' says";
  case ADRT_FAIL_SHARED_LOOPS:
    return "results that share loops have other sizes";
  default:
    return "a condition of the program does not hold";
  }
}

void plain::assertThat(OpBuilder &builder, Location loc, Value condition, StringRef operation,
                       StringRef message) {
  cf::AssertOp::create(builder, loc, condition,
                       (locationText(loc) + ": '" + operation + "' op " + message).str());
}

/// The shape of the type, with `sizes` for dynamic dimensions.
static SmallVector<OpFoldResult> shapeOf(OpBuilder &builder, RankedTensorType type, ValueRange sizes) {
  return getMixedValues(type.getShape(), sizes, builder);
}

namespace {
struct LowerRequire : OpRewritePattern<RequireOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RequireOp require, PatternRewriter &rewriter) const override {
    assertThat(rewriter, require.getLoc(), require.getCondition(), require.getRequiredBy(),
               messageOf(require.getKind()));
    rewriter.eraseOp(require);
    return success();
  }
};

struct LowerBarrier : OpRewritePattern<BarrierOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BarrierOp barrier, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(barrier, barrier.getInputs());
    return success();
  }
};

struct LowerConstant : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConstantOp constant, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(constant, cast<TypedAttr>(constant.getValue()));
    return success();
  }
};

/// By way of one axis, which upstream's passes follow. Dynamic sizes are a tensor of sizes.
struct LowerReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp reshape, PatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(reshape.getInput().getType());
    auto to = cast<RankedTensorType>(reshape.getResult().getType());
    rewriter.replaceOp(reshape, from.hasStaticShape() && to.hasStaticShape()
                                    ? reshapeStatic(rewriter, reshape, from, to)
                                    : reshapeDynamic(rewriter, reshape, to));
    return success();
  }

  static SmallVector<ReassociationIndices> allAxes(int64_t rank) {
    if (rank == 0)
      return {};
    return {llvm::to_vector(llvm::seq<int64_t>(0, rank))};
  }

  static Value reshapeStatic(OpBuilder &builder, ReshapeOp reshape, RankedTensorType from,
                             RankedTensorType to) {
    Location loc = reshape.getLoc();
    Value flat = reshape.getInput();
    auto type = RankedTensorType::get({from.getNumElements()}, from.getElementType());
    if (from.getRank() == 0)
      flat = tensor::ExpandShapeOp::create(builder, loc, type, flat, allAxes(0));
    else if (from.getRank() > 1)
      flat = tensor::CollapseShapeOp::create(builder, loc, type, flat, allAxes(from.getRank()));
    if (to.getRank() == 0)
      return tensor::CollapseShapeOp::create(builder, loc, to, flat, allAxes(0));
    if (to.getRank() == 1)
      return flat;
    return tensor::ExpandShapeOp::create(builder, loc, to, flat, allAxes(to.getRank()));
  }

  static Value reshapeDynamic(OpBuilder &builder, ReshapeOp reshape, RankedTensorType to) {
    Location loc = reshape.getLoc();
    SmallVector<Value> sizes =
        getValueOrCreateConstantIndexOp(builder, loc, shapeOf(builder, to, reshape.getSizes()));
    auto type = RankedTensorType::get({to.getRank()}, builder.getIndexType());
    Value shape = tensor::FromElementsOp::create(builder, loc, type, sizes);
    return tensor::ReshapeOp::create(builder, loc, to, reshape.getInput(), shape);
  }
};
} // namespace

void ad::populatePlainHostPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerRequire, LowerBarrier, LowerConstant, LowerReshape>(patterns.getContext());
  populateCheckPatterns(patterns);
  populateLoopPatterns(patterns);
}
