// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Linalg of operations that reduce an axis in a way of their own: the index of a largest or smallest element,
// running sums, and sums to a dynamic shape.

#include "../ADToLinalg.h"

using namespace mlir;
using namespace mlir::ad;

// The accesses of a loop nest whose innermost loop runs along `axis`: all of the tensor, and all but the
// axis.
static std::pair<AffineMap, AffineMap> mapsAlong(MLIRContext *context, int64_t rank, int64_t axis) {
  SmallVector<AffineExpr> whole, without;
  for (int64_t i = 0; i < rank; ++i) {
    whole.push_back(getAffineDimExpr(i == axis ? rank - 1 : i - (i > axis), context));
    if (i != axis)
      without.push_back(whole.back());
  }
  return {AffineMap::get(rank, 0, whole, context), AffineMap::get(rank, 0, without, context)};
}

static SmallVector<utils::IteratorType> iteratorsAlongOneAxis(int64_t rank) {
  SmallVector<utils::IteratorType> iterators(rank - 1, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  return iterators;
}

// A key whose signed integer order is the order of the values: -0 < +0, and NaN above everything.
static Value orderKey(OpBuilder &builder, Location loc, Value value, bool negate) {
  Type type = computeType(value.getType());
  value = convertScalar(builder, loc, value, type);
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType) {
    Value wide = convertScalar(builder, loc, value, builder.getI64Type());
    // ~x reverses the order without overflow.
    return negate ? Value(arith::XOrIOp::create(
                        builder, loc, wide,
                        arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), -1)))
                  : wide;
  }
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, value, value);
  if (negate)
    value = arith::NegFOp::create(builder, loc, value);
  unsigned width = floatType.getWidth();
  Type bitsType = builder.getIntegerType(width);
  Value bits = arith::BitcastOp::create(builder, loc, bitsType, value);
  auto constant = [&](const APInt &number) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(bitsType, number));
  };
  Value sign = arith::ShRSIOp::create(builder, loc, bits, constant(APInt(width, width - 1)));
  Value flip = arith::AndIOp::create(builder, loc, sign, constant(APInt::getSignedMaxValue(width)));
  Value key = arith::XOrIOp::create(builder, loc, bits, flip);
  key = arith::SelectOp::create(builder, loc, isNaN, constant(APInt::getSignedMaxValue(width)), key);
  return convertScalar(builder, loc, key, builder.getI64Type());
}

namespace {
// Carries the best key and its index; only a strictly better key replaces, so the first one wins.
template <class OpTy, bool isMinimum>
struct ArgReduceLowering : LoweringModel<ArgReduceLowering<OpTy, isMinimum>, OpTy> {
  static Value lower(OpTy op, OpBuilder &builder) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t rank = type.getRank();
    Type i64 = builder.getI64Type();
    Value empty = emptyLike(builder, loc, op->getResult(0), i64);
    Value keys = fillTensor(builder, loc, empty, extremum(builder, loc, i64, /*smallest=*/true));
    Value indices = fillTensor(builder, loc, empty, numberConstant(builder, loc, i64, 0));
    auto [in, out] = mapsAlong(op.getContext(), rank, op.getAxis());
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange{keys.getType(), indices.getType()}, op.getInput(), ValueRange{keys, indices},
        ArrayRef<AffineMap>{in, out, out}, iteratorsAlongOneAxis(rank),
        [&](OpBuilder &b, Location l, ValueRange scalars) {
          Value key = orderKey(b, l, scalars[0], isMinimum);
          Value index = arith::IndexCastOp::create(b, l, i64, linalg::IndexOp::create(b, l, rank - 1));
          Value better = arith::CmpIOp::create(b, l, arith::CmpIPredicate::sgt, key, scalars[1]);
          Value bestKey = arith::SelectOp::create(b, l, better, key, scalars[1]);
          Value bestIndex = arith::SelectOp::create(b, l, better, index, scalars[2]);
          linalg::YieldOp::create(b, l, ValueRange{bestKey, bestIndex});
        });
    return generic.getResult(1);
  }
};

// One chain per row; the first output keeps every step, the second carries the accumulator.
struct CumsumLowering : LoweringModel<CumsumLowering, CumsumOp> {
  static Value lower(CumsumOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t rank = type.getRank();
    Type element = type.getElementType(), accumulator = accumulatorType(element);
    auto [in, out] = mapsAlong(op.getContext(), rank, op.getAxis());
    Value steps = emptyLike(builder, loc, op->getResult(0));
    SmallVector<int64_t> rowShape(type.getShape());
    rowShape.erase(rowShape.begin() + op.getAxis());
    SmallVector<Value> rowSizes;
    for (int64_t i = 0; i < rank; ++i)
      if (i != int64_t(op.getAxis()) && type.isDynamicDim(i))
        rowSizes.push_back(dimension(builder, loc, op.getInput(), i));
    Value rows = tensor::EmptyOp::create(builder, loc, rowShape, accumulator, rowSizes);
    rows = fillTensor(builder, loc, rows, numberConstant(builder, loc, accumulator, 0));
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange{steps.getType(), rows.getType()}, op.getInput(), ValueRange{steps, rows},
        ArrayRef<AffineMap>{in, in, out}, iteratorsAlongOneAxis(rank),
        [&](OpBuilder &b, Location l, ValueRange scalars) {
          Value value = convertScalar(b, l, scalars[0], accumulator);
          Value sum = addScalars(b, l, scalars[2], value);
          linalg::YieldOp::create(b, l, ValueRange{convertScalar(b, l, sum, element), sum});
        });
    return generic.getResult(0);
  }
};

// Sizes are dynamic: each result element sums a box whose extents are 1 along axes that were not repeated.
struct SumToShapeLowering : LoweringModel<SumToShapeLowering, SumToShapeOp> {
  static Value lower(SumToShapeOp op, OpBuilder &builder) {
    Type accumulator = accumulatorType(op.getInput().getType().getElementType());
    ReifiedRankedShapedTypeDims shapes;
    if (failed(reifyResultShapes(builder, op, shapes)))
      return {};
    Value box = boxOf(op, shapes.front(), builder);
    return roundTo(builder, op->getResult(0), sumBox(op, box, accumulator, builder));
  }

private:
  // A tensor of the extents of the summed box, which gives linalg its iteration space.
  static Value boxOf(SumToShapeOp op, ArrayRef<OpFoldResult> toSizes, OpBuilder &builder) {
    Location loc = op.getLoc();
    int64_t rank = op.getInput().getType().getRank(), leading = rank - int64_t(toSizes.size());
    Value one = indexConstant(builder, loc, 1);
    SmallVector<Value> extents;
    for (int64_t i = 0; i < rank; ++i) {
      Value size = dimension(builder, loc, op.getInput(), i);
      if (i >= leading) {
        Value wanted = getValueOrCreateConstantIndexOp(builder, loc, toSizes[i - leading]);
        Value repeats = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, wanted, one);
        size = arith::SelectOp::create(builder, loc, repeats, size, one);
      }
      extents.push_back(size);
    }
    SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
    return tensor::EmptyOp::create(builder, loc, shape, builder.getI8Type(), extents);
  }

  // Loops over the result, then over the box that starts at each of its elements.
  static Value sumBox(SumToShapeOp op, Value box, Type accumulator, OpBuilder &builder) {
    Location loc = op.getLoc();
    unsigned rank = op.getInput().getType().getRank(), toRank = op.getResult().getType().getRank();
    unsigned loops = toRank + rank, leading = rank - toRank;
    Value init = fillTensor(builder, loc, emptyLike(builder, loc, op->getResult(0), accumulator),
                            numberConstant(builder, loc, accumulator, 0));
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
      linalg::YieldOp::create(b, l, addScalars(b, l, scalars[1], value));
    };
    return linalg::GenericOp::create(builder, loc, init.getType(), box, init, maps, iterators, add)
        .getResult(0);
  }
};
} // namespace

void ad::registerReductionModels(DialectRegistry &registry) {
  registerLoweringModels<ArgReduceLowering<ArgmaxOp, false>, ArgReduceLowering<ArgminOp, true>,
                         CumsumLowering, SumToShapeLowering>(registry);
}
