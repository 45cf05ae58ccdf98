// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions that are deep and have small results, as sums of contractions of parts of their depth
// (split-K). A part is an element of a new batch axis, so every later pass sees a contraction like any other.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Support/NumericOption.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-split-contractions"

namespace mlir::ad {
#define GEN_PASS_DEF_SPLITCONTRACTIONSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// The smallest tile of a result that a block of threads takes (ContractionTiles.cpp).
static constexpr int64_t kTileSide = 64;
// Parts are no less deep: below, a block is done in the time that the launch of the sum takes. Tensor cores
// go through a depth faster.
static constexpr int64_t kShortestByAdds = 128, kShortestByTensorCores = 512;
// Rows of operands along the depth still begin at 16 bytes, whatever their type.
static constexpr int64_t kDepthMultiple = 16;

// Integers have the same sums in any order.
static bool isExact(Value value) { return isa<IntegerType>(getElementTypeOrSelf(value.getType())); }

static int64_t shortestPart(Operation *op, Type element) {
  auto permissions = cast<NumericsOpInterface>(op).getPermissions();
  bool asTf32 = element.isF32() && bitEnumContainsAll(permissions, Permissions::narrow);
  bool byTensorCores =
      element.isInteger(8) || asTf32 ||
      ((element.isF16() || element.isBF16()) && bitEnumContainsAll(permissions, Permissions::mma));
  return byTensorCores ? kShortestByTensorCores : kShortestByAdds;
}

static int64_t tilesOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (auto [axis, size] : llvm::enumerate(shape))
    count *= axis + 2 < shape.size() ? size : int64_t(llvm::divideCeil(size, kTileSide));
  return count;
}

// Into how many equal parts a depth is split: as many as give the blocks of threads something to do, but none
// too short.
static int64_t partsOf(int64_t depth, ArrayRef<int64_t> shape, int64_t shortest, int64_t blocks) {
  int64_t tiles = tilesOf(shape), most = tiles > 0 ? std::min(blocks / tiles, depth / shortest) : 0;
  for (int64_t parts = most; parts > 1; --parts)
    if (depth % parts == 0 && depth / parts % kDepthMultiple == 0)
      return parts;
  return 1;
}

// The tensor with an axis cut into `parts`: the number of the part, and where in it.
static Value cutAxis(OpBuilder &builder, Location loc, Value tensor, int64_t axis, int64_t parts) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] /= parts;
  shape.insert(shape.begin() + axis, parts);
  return ReshapeOp::create(builder, loc, type.clone(shape), tensor, ValueRange(), PermissionsAttr());
}

// An operand's batch axes behind the cut, which gives the first of them.
static SmallVector<int64_t> batchAxes(ArrayRef<int64_t> batch, int64_t cut) {
  SmallVector<int64_t> axes = {cut};
  for (int64_t axis : batch)
    axes.push_back(axis > cut ? axis + 1 : axis);
  return axes;
}

namespace {
/// A contraction over one axis of each operand.
struct Product {
  Value lhs, rhs;
  ArrayRef<int64_t> lhsBatch, rhsBatch;
  int64_t lhsAxis, rhsAxis;
  RankedTensorType result;
  OrderAttr order;

  static std::optional<Product> of(DotOp op) {
    if (op.getLhsContract().size() != 1)
      return std::nullopt;
    return Product{op.getLhs(),
                   op.getRhs(),
                   op.getLhsBatch(),
                   op.getRhsBatch(),
                   op.getLhsContract()[0],
                   op.getRhsContract()[0],
                   op.getType(),
                   op.getOrderAttr()};
  }
  static std::optional<Product> of(GemmOp op) {
    return Product{op.getLhs(),  op.getRhs(),      {}, {}, op.getTransA() ? 0 : 1, op.getTransB() ? 1 : 0,
                   op.getType(), op.getOrderAttr()};
  }
  int64_t depth() const { return cast<RankedTensorType>(lhs.getType()).getDimSize(lhsAxis); }
  // Both operands have a side of the result, and all sizes are known.
  bool isMatrix() const {
    auto left = cast<RankedTensorType>(lhs.getType()), right = cast<RankedTensorType>(rhs.getType());
    int64_t shared = static_cast<int64_t>(lhsBatch.size()) + 1;
    return left.hasStaticShape() && right.hasStaticShape() && left.getRank() > shared &&
           right.getRank() > shared;
  }
};

// In the type of the accumulator.
Value sumOfParts(OpBuilder &builder, Location loc, const Product &product, int64_t parts) {
  Type element = accumulatorType(product.result.getElementType());
  SmallVector<int64_t> shape = {parts};
  llvm::append_range(shape, product.result.getShape());
  Value each =
      DotOp::create(builder, loc, RankedTensorType::get(shape, element),
                    cutAxis(builder, loc, product.lhs, product.lhsAxis, parts),
                    cutAxis(builder, loc, product.rhs, product.rhsAxis, parts),
                    batchAxes(product.lhsBatch, product.lhsAxis),
                    batchAxes(product.rhsBatch, product.rhsAxis), ArrayRef<int64_t>{product.lhsAxis + 1},
                    ArrayRef<int64_t>{product.rhsAxis + 1}, product.order, PermissionsAttr());
  return ReduceSumOp::create(
      builder, loc, RankedTensorType::get(product.result.getShape(), element), each, ArrayRef<int64_t>{0},
      /*keepDims=*/false, OrderAttr::canonicalBlocks(builder.getContext()), PermissionsAttr());
}

// What an ad.dot and an ad.gemm make of their sum.
Value finish(OpBuilder &builder, DotOp op, Value sum) {
  return castTo(builder, op.getLoc(), sum, op.getType().getElementType());
}

Value finish(OpBuilder &builder, GemmOp op, Value sum) {
  Location loc = op.getLoc();
  auto scaled = [&](Value value, const APFloat &by) -> Value {
    if (by.isExactlyValue(1.0))
      return value;
    return MulOp::create(builder, loc, value, fullLike(builder, loc, value, by.convertToDouble()),
                         PermissionsAttr());
  };
  sum = scaled(sum, op.getAlpha());
  if (op.getBias()) {
    Value bias = castTo(builder, loc, op.getBias(), getElementTypeOrSelf(sum.getType()));
    bias = broadcastLike(builder, loc, scaled(bias, op.getBeta()), sum);
    sum = AddOp::create(builder, loc, sum, bias, PermissionsAttr());
  }
  return castTo(builder, loc, sum, op.getType().getElementType());
}

template <typename OpTy> struct SplitContraction : NumericsPattern<OpTy> {
  SplitContraction(MLIRContext *context, int64_t blocks, bool exact)
      : NumericsPattern<OpTy>(context, "split-contraction",
                              exact ? Permissions::none : Permissions::reorder | Permissions::contract),
        blocks(blocks), exact(exact) {}

  int64_t parts(OpTy op) const {
    std::optional<Product> product = Product::of(op);
    if (!product || !product->isMatrix())
      return 1;
    return partsOf(product->depth(), product->result.getShape(),
                   shortestPart(op, getElementTypeOrSelf(op.getLhs().getType())), blocks);
  }

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (isExact(op) != exact)
      return rewriter.notifyMatchFailure(op, "expected sums of the other kind");
    if (exact && getElementTypeOrSelf(op) != accumulatorType(getElementTypeOrSelf(op.getLhs())))
      return rewriter.notifyMatchFailure(op, "expected the sums themselves as the result");
    if (parts(op) == 1)
      return rewriter.notifyMatchFailure(op, "expected a depth of which the processors can share parts");
    return success();
  }

  void rewrite(OpTy op, PatternRewriter &rewriter) const override {
    LDBG() << op->getName() << " is split into " << parts(op) << " parts";
    Value sum = sumOfParts(rewriter, op.getLoc(), *Product::of(op), parts(op));
    rewriter.replaceOp(op, finish(rewriter, op, sum));
  }

  int64_t blocks;
  bool exact;
};

struct SplitContractionsPass : ad::impl::SplitContractionsPassBase<SplitContractionsPass> {
  using SplitContractionsPassBase::SplitContractionsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SplitContractionsPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  void runOnOperation() override {
    if (failed(verifyAtLeast(getOperation(), "blocks", 1, blocks)))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    for (bool exact : {false, true})
      patterns.add<SplitContraction<DotOp>>(context, blocks, exact);
    patterns.add<SplitContraction<GemmOp>>(context, blocks, /*exact=*/false);
    PatternLog log(DEBUG_TYPE);
    walkAndApplyPatterns(getOperation(), std::move(patterns), &log);
  }
};
} // namespace
