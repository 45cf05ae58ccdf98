// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement to linalg: an access map where the movement is affine and known, a computed index where sizes
// decide at run time, and tensor.insert_slice where a part of the result is written.

#include "ADToLinalg.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"

using namespace mlir;
using namespace mlir::ad;

// result[i] = input[map(i)] over the result's dimensions.
static Value gatherByMap(OpBuilder &builder, Operation *op, Value input, AffineMap map) {
  Location loc = op->getLoc();
  Value init = emptyLike(builder, loc, op->getResult(0));
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  SmallVector<AffineMap> maps = {map, builder.getMultiDimIdentityMap(rank)};
  auto generic = linalg::GenericOp::create(builder, loc, init.getType(), input, init, maps, iterators,
                                           [](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
                                             linalg::YieldOp::create(nested, nestedLoc, scalars[0]);
                                           });
  return generic.getResult(0);
}

// result[i] = input[index(i)] with indices that are computed for each element.
static Value gatherByIndex(OpBuilder &builder, Operation *op, Value input,
                           function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> index) {
  Location loc = op->getLoc();
  Value init = emptyLike(builder, loc, op->getResult(0));
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  return elementwiseGeneric(builder, loc, {}, init, [&](OpBuilder &nested, ValueRange) -> Value {
    SmallVector<Value> position;
    for (int64_t i = 0; i < rank; ++i)
      position.push_back(linalg::IndexOp::create(nested, loc, i));
    return tensor::ExtractOp::create(nested, loc, input, index(nested, position));
  });
}

static Value dimension(OpBuilder &builder, Location loc, Value tensor, int64_t axis) {
  return builder.createOrFold<tensor::DimOp>(loc, tensor, axis);
}

static Value indexConstant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

// 0 where the axis of `tensor` has size 1 at run time, else `position`.
static Value broadcastIndex(OpBuilder &builder, Location loc, Value size, Value position) {
  Value one = indexConstant(builder, loc, 1), zero = indexConstant(builder, loc, 0);
  Value repeats = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, size, one);
  return arith::SelectOp::create(builder, loc, repeats, zero, position);
}

// Whether the types say that there are no elements. Upstream's slices refuse offset 0 in an axis of size 0.
static bool isEmpty(Value tensor) {
  return llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(), 0);
}

// The tensor under a type that does not show which axes are empty.
static Value withDynamicSizes(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getRank(), ShapedType::kDynamic);
  return isEmpty(tensor) ? tensor::CastOp::create(builder, loc, type.clone(shape), tensor) : tensor;
}

namespace {
struct LowerBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    Value input = op.getInput();
    auto from = cast<RankedTensorType>(input.getType()),
         to = cast<RankedTensorType>(op.getResult().getType());
    int64_t leading = to.getRank() - from.getRank();
    // Known: equal sizes read straight, size 1 reads element 0.
    auto known = [&](int64_t i) { return !from.isDynamicDim(i) || op->hasAttr(kSameSizesAttr); };
    if (llvm::all_of(llvm::seq<int64_t>(0, from.getRank()), known)) {
      SmallVector<AffineExpr> access;
      for (int64_t i = 0; i < from.getRank(); ++i)
        access.push_back(from.getDimSize(i) == 1 ? rewriter.getAffineConstantExpr(0)
                                                 : rewriter.getAffineDimExpr(leading + i));
      rewriter.replaceOp(
          op, gatherByMap(rewriter, op, input, AffineMap::get(to.getRank(), 0, access, op.getContext())));
      return success();
    }
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < from.getRank(); ++i)
      sizes.push_back(dimension(rewriter, op.getLoc(), input, i));
    rewriter.replaceOp(op, gatherByIndex(rewriter, op, input, [&](OpBuilder &builder, ValueRange position) {
                         SmallVector<Value> index;
                         for (int64_t i = 0; i < from.getRank(); ++i)
                           index.push_back(
                               broadcastIndex(builder, op.getLoc(), sizes[i], position[leading + i]));
                         return index;
                       }));
    return success();
  }
};

// A reshape that could not be dissolved, since its operand is computed in the same fusion: the row-major
// number of an element is the same on both sides.
struct LowerReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  // Where static shapes differ in axes of size 1 only, the long axes keep their order.
  static AffineMap mapOfUnitAxes(ReshapeOp op) {
    auto from = cast<RankedTensorType>(op.getInput().getType());
    auto to = cast<RankedTensorType>(op.getResult().getType());
    if (!from.hasStaticShape() || !to.hasStaticShape())
      return {};
    MLIRContext *context = op.getContext();
    SmallVector<AffineExpr> access;
    int64_t axis = 0;
    for (int64_t size : from.getShape()) {
      if (size == 1) {
        access.push_back(getAffineConstantExpr(0, context));
        continue;
      }
      while (axis < to.getRank() && to.getDimSize(axis) == 1)
        ++axis;
      if (axis == to.getRank() || to.getDimSize(axis) != size)
        return {};
      access.push_back(getAffineDimExpr(axis++, context));
    }
    return AffineMap::get(to.getRank(), 0, access, context);
  }

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (AffineMap map = mapOfUnitAxes(op)) {
      rewriter.replaceOp(op, gatherByMap(rewriter, op, op.getInput(), map));
      return success();
    }
    Location loc = op.getLoc();
    auto sizesOf = [&](Value tensor) {
      SmallVector<Value> sizes;
      for (int64_t i = 0; i < cast<RankedTensorType>(tensor.getType()).getRank(); ++i)
        sizes.push_back(dimension(rewriter, loc, tensor, i));
      return sizes;
    };
    SmallVector<Value> from = sizesOf(op.getInput());
    SmallVector<Value> to = sizesOf(emptyLike(rewriter, loc, op->getResult(0)));
    auto index = [&](OpBuilder &builder, ValueRange position) {
      Value number = indexConstant(builder, loc, 0);
      for (auto [i, size] : llvm::zip_equal(position, to)) {
        number = arith::MulIOp::create(builder, loc, number, size);
        number = arith::AddIOp::create(builder, loc, number, i);
      }
      SmallVector<Value> inside(from.size());
      for (int64_t axis = from.size() - 1; axis >= 0; --axis) {
        inside[axis] = arith::RemUIOp::create(builder, loc, number, from[axis]);
        number = arith::DivUIOp::create(builder, loc, number, from[axis]);
      }
      return inside;
    };
    rewriter.replaceOp(op, gatherByIndex(rewriter, op, op.getInput(), index));
    return success();
  }
};

struct LowerTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    // Axis i of the result is axis p[i] of the input, so axis p[i] of the input reads loop i.
    SmallVector<AffineExpr> access(op.getPermutation().size());
    for (auto [i, p] : llvm::enumerate(op.getPermutation()))
      access[p] = rewriter.getAffineDimExpr(i);
    auto map = AffineMap::get(access.size(), 0, access, op.getContext());
    rewriter.replaceOp(op, gatherByMap(rewriter, op, op.getInput(), map));
    return success();
  }
};

// `dynamic` are the sizes that the type of the result leaves open.
static void replaceBySlice(Operation *op, PatternRewriter &rewriter, Value input,
                           ArrayRef<OpFoldResult> offsets, ValueRange dynamic,
                           ArrayRef<OpFoldResult> strides) {
  OpResult result = op->getResult(0);
  if (isEmpty(result)) {
    rewriter.replaceOp(op, emptyLike(rewriter, op->getLoc(), result));
    return;
  }
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> sizes = getMixedValues(type.getShape(), dynamic, rewriter);
  input = withDynamicSizes(rewriter, op->getLoc(), input);
  rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, input, offsets, sizes, strides);
}

struct LowerSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    replaceBySlice(op, rewriter, op.getInput(), getAsIndexOpFoldResult(op.getContext(), op.getOffsets()),
                   op.getSizes(), getAsIndexOpFoldResult(op.getContext(), op.getStrides()));
    return success();
  }
};

struct LowerReverse : OpRewritePattern<ReverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReverseOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value one = indexConstant(rewriter, loc, 1);
    SmallVector<Value> last(cast<RankedTensorType>(op.getResult().getType()).getRank());
    for (int64_t axis : op.getAxes())
      last[axis] = arith::SubIOp::create(rewriter, loc, dimension(rewriter, loc, op.getInput(), axis), one);
    rewriter.replaceOp(
        op, gatherByIndex(rewriter, op, op.getInput(), [&](OpBuilder &builder, ValueRange position) {
          SmallVector<Value> index(position);
          for (int64_t axis : op.getAxes())
            index[axis] = arith::SubIOp::create(builder, loc, last[axis], position[axis]);
          return index;
        }));
    return success();
  }
};

struct LowerDynamicSlice : OpRewritePattern<DynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicSliceOp op, PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> strides(op.getOffsets().size(), rewriter.getIndexAttr(1));
    replaceBySlice(op, rewriter, op.getInput(), getAsOpFoldResult(op.getOffsets()), op.getSizes(), strides);
    return success();
  }
};

struct LowerDynamicUpdateSlice : OpRewritePattern<DynamicUpdateSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicUpdateSliceOp op, PatternRewriter &rewriter) const override {
    if (isEmpty(op.getUpdate()) || isEmpty(op.getInput())) {
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    SmallVector<OpFoldResult> offsets(op.getOffsets().begin(), op.getOffsets().end());
    auto sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getUpdate());
    SmallVector<OpFoldResult> strides(offsets.size(), rewriter.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, op.getUpdate(), op.getInput(), offsets, sizes,
                                                       strides);
    return success();
  }
};

// The value everywhere, then the input written into its place.
struct LowerPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value scalar = tensor::ExtractOp::create(rewriter, loc, op.getValue(), ValueRange());
    Value filled = fillTensor(rewriter, loc, emptyLike(rewriter, loc, op->getResult(0)), scalar);
    if (isEmpty(op.getInput())) {
      rewriter.replaceOp(op, filled);
      return success();
    }
    SmallVector<OpFoldResult> offsets, strides;
    for (auto [low, interior] : llvm::zip_equal(op.getLow(), op.getInterior())) {
      offsets.push_back(rewriter.getIndexAttr(low));
      strides.push_back(rewriter.getIndexAttr(interior + 1));
    }
    auto sizes = tensor::getMixedSizes(rewriter, loc, op.getInput());
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, op.getInput(), filled, offsets, sizes, strides);
    return success();
  }
};

struct LowerConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t axis = op.getAxis();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Value result = emptyLike(rewriter, loc, op->getResult(0));
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    Value offset = indexConstant(rewriter, loc, 0);
    for (Value input : op.getInputs()) {
      if (isEmpty(input) || isEmpty(op.getResult()))
        continue;
      offsets[axis] = getAsOpFoldResult(offset);
      auto sizes = tensor::getMixedSizes(rewriter, loc, input);
      result = tensor::InsertSliceOp::create(rewriter, loc, input, result, offsets, sizes, strides);
      offset = rewriter.createOrFold<arith::AddIOp>(loc, offset, dimension(rewriter, loc, input, axis));
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

// Sizes that only run time knows: each result element sums a box whose extents are 1 along axes that were not
// repeated.
struct LowerSumToShape : OpRewritePattern<SumToShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SumToShapeOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = op.getResult().getType().getElementType();
    Type accumulator = accumulatorType(op.getInput().getType().getElementType());
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(rewriter, op, shapes)))
      return rewriter.notifyMatchFailure(op, "expected sizes that can be computed");
    Value box = boxOf(op, shapes.front(), rewriter);
    Value sum = sumBox(op, box, accumulator, rewriter);
    if (accumulator != element)
      sum = elementwiseGeneric(rewriter, loc, sum, emptyLike(rewriter, loc, op->getResult(0)),
                               [&](OpBuilder &builder, ValueRange scalars) {
                                 return convertScalar(builder, loc, scalars[0], element);
                               });
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  // A tensor of the extents of the summed box, which gives linalg its iteration space.
  static Value boxOf(SumToShapeOp op, ArrayRef<OpFoldResult> toSizes, PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    int64_t rank = op.getInput().getType().getRank(), leading = rank - int64_t(toSizes.size());
    Value one = indexConstant(rewriter, loc, 1);
    SmallVector<Value> extents;
    for (int64_t i = 0; i < rank; ++i) {
      Value size = dimension(rewriter, loc, op.getInput(), i);
      if (i >= leading) {
        Value wanted = getValueOrCreateConstantIndexOp(rewriter, loc, toSizes[i - leading]);
        Value repeats = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, wanted, one);
        size = arith::SelectOp::create(rewriter, loc, repeats, size, one);
      }
      extents.push_back(size);
    }
    SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
    return tensor::EmptyOp::create(rewriter, loc, shape, rewriter.getI8Type(), extents);
  }

  // Loops over the result, then over the box that starts at each of its elements.
  static Value sumBox(SumToShapeOp op, Value box, Type accumulator, PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    unsigned rank = op.getInput().getType().getRank(), toRank = op.getResult().getType().getRank();
    unsigned loops = toRank + rank, leading = rank - toRank;
    Value init = fillTensor(rewriter, loc, emptyLike(rewriter, loc, op->getResult(0), accumulator),
                            numberConstant(rewriter, loc, accumulator, 0));
    AffineMap all = AffineMap::getMultiDimIdentityMap(loops, op.getContext());
    SmallVector<AffineMap> maps = {all.getMinorSubMap(rank), all.getMajorSubMap(toRank)};
    SmallVector<utils::IteratorType> iterators(toRank, utils::IteratorType::parallel);
    iterators.append(rank, utils::IteratorType::reduction);
    auto add = [&](OpBuilder &b, Location l, ValueRange scalars) {
      SmallVector<Value> index;
      for (unsigned i = 0; i < rank; ++i) {
        Value position = linalg::IndexOp::create(b, l, toRank + i);
        if (i >= leading)
          position = arith::AddIOp::create(b, l, position, linalg::IndexOp::create(b, l, i - leading));
        index.push_back(position);
      }
      Value value = convertScalar(b, l, tensor::ExtractOp::create(b, l, op.getInput(), index), accumulator);
      Value sum = isa<FloatType>(accumulator) ? Value(arith::AddFOp::create(b, l, scalars[1], value))
                                              : Value(arith::AddIOp::create(b, l, scalars[1], value));
      linalg::YieldOp::create(b, l, sum);
    };
    return linalg::GenericOp::create(rewriter, loc, init.getType(), box, init, maps, iterators, add)
        .getResult(0);
  }
};
} // namespace

void ad::populateShapeToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerBroadcast, LowerReshape, LowerTranspose, LowerSlice, LowerReverse, LowerDynamicSlice,
               LowerDynamicUpdateSlice, LowerPad, LowerConcat, LowerSumToShape>(patterns.getContext());
}
