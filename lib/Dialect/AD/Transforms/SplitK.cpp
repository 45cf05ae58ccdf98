// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Split-K: a contraction with a long reduction dimension K and a small result becomes a sum of contractions
// over parts of K. The parts are a new batch axis, so every later pass sees a contraction like any other.

#include "ContractionEpilogue.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Dialect/AD/Transforms/PatternLog.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "adjoint/Support/NumericOption.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-split-k"

namespace mlir::ad {
#define GEN_PASS_DEF_SPLITKPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// The smallest tile that a thread block computes (ContractionTiles.cpp).
static constexpr int64_t kTileSide = 64;
// The shortest part of K. A block finishes a shorter part in the time that the launch of the sum takes.
// Tensor cores need fewer cycles for the same K.
static constexpr int64_t kMinKSimt = 128, kMinKTensorCores = 512;
// Rows of K-major operands keep their alignment of 16 bytes, whatever the type.
static constexpr int64_t kMultipleOfK = 16;

// Integers have the same sums in any order.
static bool isExact(Value value) { return isa<IntegerType>(getElementTypeOrSelf(value.getType())); }

static int64_t minKOfPart(Operation *op, Type element) {
  bool asTf32 = element.isF32() && allows(op, Permissions::narrow);
  bool byTensorCores = element.isInteger(8) || asTf32 ||
                       ((element.isF16() || element.isBF16()) && allows(op, Permissions::mma));
  return byTensorCores ? kMinKTensorCores : kMinKSimt;
}

// The number of equal parts of K: enough that each thread block has a tile, but no part shorter than `minK`.
static int64_t partCount(int64_t k, int64_t tiles, int64_t minK, int64_t blocks) {
  int64_t maxParts = tiles > 0 ? std::min(blocks / tiles, k / minK) : 0;
  for (int64_t parts = maxParts; parts > 1; --parts)
    if (k % parts == 0 && k / parts % kMultipleOfK == 0)
      return parts;
  return 1;
}

// Tiles along the free axes of an operand. Adjacent free axes are one axis of the kernel, and all but the
// last of those are batches.
static int64_t tilesAlong(Value operand, ArrayRef<int64_t> batch, int64_t contracted) {
  int64_t batches = 1, last = 1;
  bool ends = false;
  for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(operand.getType()).getShape())) {
    if (int64_t(axis) == contracted || llvm::is_contained(batch, axis)) {
      ends = true;
      continue;
    }
    if (ends) {
      batches *= last;
      last = 1;
    }
    last *= size;
    ends = false;
  }
  return batches * int64_t(llvm::divideCeil(last, kTileSide));
}

// Splits an axis into two: the index of the part, and the index within the part.
static Value splitAxis(OpBuilder &builder, Location loc, Value tensor, int64_t axis, int64_t parts) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] /= parts;
  shape.insert(shape.begin() + axis, parts);
  return ReshapeOp::create(builder, loc, type.clone(shape), tensor, ValueRange(), PermissionsAttr());
}

// The batch axes of an operand whose axis `split` was split: the new axis first.
static SmallVector<int64_t> batchAxes(ArrayRef<int64_t> batch, int64_t split) {
  SmallVector<int64_t> axes = {split};
  for (int64_t axis : batch)
    axes.push_back(axis > split ? axis + 1 : axis);
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
  int64_t k() const { return cast<RankedTensorType>(lhs.getType()).getDimSize(lhsAxis); }
  int64_t tileCount() const {
    int64_t count = tilesAlong(lhs, lhsBatch, lhsAxis) * tilesAlong(rhs, rhsBatch, rhsAxis);
    for (int64_t axis : lhsBatch)
      count *= cast<RankedTensorType>(lhs.getType()).getDimSize(axis);
    return count;
  }
  // Both operands have a free axis, M or N, and all sizes are static.
  bool isMatrix() const {
    auto left = cast<RankedTensorType>(lhs.getType()), right = cast<RankedTensorType>(rhs.getType());
    int64_t shared = static_cast<int64_t>(lhsBatch.size()) + 1;
    return left.hasStaticShape() && right.hasStaticShape() && left.getRank() > shared &&
           right.getRank() > shared;
  }
};

// The sum has the type of the accumulator.
Value sumOfParts(OpBuilder &builder, Location loc, const Product &product, int64_t parts) {
  Type element = accumulatorType(product.result.getElementType());
  SmallVector<int64_t> shape = {parts};
  llvm::append_range(shape, product.result.getShape());
  Value each =
      DotOp::create(builder, loc, RankedTensorType::get(shape, element),
                    splitAxis(builder, loc, product.lhs, product.lhsAxis, parts),
                    splitAxis(builder, loc, product.rhs, product.rhsAxis, parts),
                    batchAxes(product.lhsBatch, product.lhsAxis),
                    batchAxes(product.rhsBatch, product.rhsAxis), ArrayRef<int64_t>{product.lhsAxis + 1},
                    ArrayRef<int64_t>{product.rhsAxis + 1}, product.order, PermissionsAttr());
  return ReduceSumOp::create(
      builder, loc, RankedTensorType::get(product.result.getShape(), element), each, ArrayRef<int64_t>{0},
      /*keepDims=*/false, OrderAttr::canonicalBlocks(builder.getContext()), PermissionsAttr());
}

template <typename OpTy> struct SplitK : NumericsPattern<OpTy> {
  SplitK(MLIRContext *context, int64_t blocks, bool exact)
      : NumericsPattern<OpTy>(context, "split-k",
                              exact ? Permissions::none : Permissions::reorder | Permissions::contract),
        blocks(blocks), exact(exact) {}

  int64_t parts(OpTy op) const {
    std::optional<Product> product = Product::of(op);
    if (!product || !product->isMatrix())
      return 1;
    return partCount(product->k(), product->tileCount(),
                     minKOfPart(op, getElementTypeOrSelf(op.getLhs().getType())), blocks);
  }

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (isExact(op) != exact)
      return rewriter.notifyMatchFailure(op, "expected the other of integer and floating-point accumulators");
    if (exact && getElementTypeOrSelf(op) != accumulatorType(getElementTypeOrSelf(op.getLhs())))
      return rewriter.notifyMatchFailure(op, "expected a result of the accumulator type");
    if (op->hasAttr(kInstructionAttr))
      return rewriter.notifyMatchFailure(op, "expected a contraction without a written instruction");
    if (parts(op) == 1)
      return rewriter.notifyMatchFailure(op,
                                         "expected a K that is long enough to split for the thread blocks");
    return success();
  }

  void rewrite(OpTy op, PatternRewriter &rewriter) const override {
    LDBG() << op->getName() << " is split into " << parts(op) << " parts";
    Value sum = sumOfParts(rewriter, op.getLoc(), *Product::of(op), parts(op));
    rewriter.replaceOp(op, emitEpilogue(rewriter, op, sum));
  }

  int64_t blocks;
  bool exact;
};

struct SplitKPass : ad::impl::SplitKPassBase<SplitKPass> {
  using SplitKPassBase::SplitKPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    SplitKPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  void runOnOperation() override {
    if (failed(verifyAtLeast(getOperation(), "blocks", 1, blocks)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateSplitKPatterns(patterns, blocks);
    PatternLog log(DEBUG_TYPE);
    walkAndApplyPatterns(getOperation(), std::move(patterns), &log);
  }
};
} // namespace

void ad::populateSplitKPatterns(RewritePatternSet &patterns, int64_t blocks) {
  MLIRContext *context = patterns.getContext();
  for (bool exact : {false, true})
    patterns.add<SplitK<DotOp>>(context, blocks, exact);
  patterns.add<SplitK<GemmOp>>(context, blocks, /*exact=*/false);
}
