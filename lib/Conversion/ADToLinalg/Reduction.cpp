// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over one axis to linalg; ad-decompose has made several axes and means into these.

#include "ADToLinalg.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
// How a reduction combines and what it starts from.
struct Combiner {
  Value identity;
  std::function<Value(OpBuilder &, Location, Value acc, Value value)> combine;
};
} // namespace

template <class FloatOp, class IntegerOp> static Combiner makeCombiner(Value identity) {
  return {identity, [](OpBuilder &builder, Location loc, Value acc, Value value) -> Value {
            if (isa<FloatType>(acc.getType()))
              return FloatOp::create(builder, loc, acc, value);
            return IntegerOp::create(builder, loc, acc, value);
          }};
}

// The value that loses against every other: an infinity, or the end of the integers.
static Value extremum(OpBuilder &builder, Location loc, Type type, bool smallest) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        builder, loc, FloatAttr::get(floatType, APFloat::getInf(floatType.getFloatSemantics(), smallest)));
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = smallest ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

static FailureOr<Combiner> combinerOf(OpBuilder &builder, Operation *op, Type accumulator) {
  Location loc = op->getLoc();
  if (isa<ReduceSumOp>(op))
    return makeCombiner<arith::AddFOp, arith::AddIOp>(numberConstant(builder, loc, accumulator, 0));
  if (isa<ReduceProdOp>(op))
    return makeCombiner<arith::MulFOp, arith::MulIOp>(numberConstant(builder, loc, accumulator, 1));
  if (isa<ReduceMaxOp>(op))
    return makeCombiner<arith::MaximumFOp, arith::MaxSIOp>(
        extremum(builder, loc, accumulator, /*smallest=*/true));
  if (isa<ReduceMinOp>(op))
    return makeCombiner<arith::MinimumFOp, arith::MinSIOp>(
        extremum(builder, loc, accumulator, /*smallest=*/false));
  return failure();
}

// Access maps of a reduction along `axis`: the input, and the result with or without the axis.
static std::pair<AffineMap, AffineMap> reductionMaps(MLIRContext *context, int64_t rank, int64_t axis,
                                                     bool keepDims) {
  // Loops: the result's other axes in order, then the reduced one.
  SmallVector<AffineExpr> in, out;
  unsigned loop = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis) {
      in.push_back(getAffineDimExpr(rank - 1, context));
      if (keepDims)
        out.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    in.push_back(getAffineDimExpr(loop++, context));
    out.push_back(in.back());
  }
  return {AffineMap::get(rank, 0, in, context), AffineMap::get(rank, 0, out, context)};
}

static SmallVector<utils::IteratorType> reductionIterators(int64_t rank) {
  SmallVector<utils::IteratorType> iterators(rank - 1, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  return iterators;
}

namespace {
template <class OpTy> struct LowerReduce : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getInput().getType());
    Type element = getElementTypeOrSelf(op.getResult());
    if (op.getAxes().size() != 1)
      return rewriter.notifyMatchFailure(op, "expected one axis; run ad-decompose first");
    // Sums and products are kept in the accumulator, maxima in the type itself (16- and 8-bit floats in f32,
    // exactly).
    bool selects = isa<ReduceMaxOp, ReduceMinOp>(op.getOperation());
    Type accumulator = selects ? computeType(type.getElementType()) : accumulatorType(type.getElementType());
    FailureOr<Combiner> combiner = combinerOf(rewriter, op, accumulator);
    if (failed(combiner))
      return failure();
    Value init = fillTensor(rewriter, loc, emptyLike(rewriter, loc, op->getResult(0), accumulator),
                            combiner->identity);
    auto [in, out] = reductionMaps(op.getContext(), type.getRank(), op.getAxes()[0], op.getKeepDims());
    auto generic = linalg::GenericOp::create(
        rewriter, loc, init.getType(), op.getInput(), init, ArrayRef<AffineMap>{in, out},
        reductionIterators(type.getRank()), [&](OpBuilder &builder, Location nested, ValueRange scalars) {
          Value value = convertScalar(builder, nested, scalars[0], accumulator);
          linalg::YieldOp::create(builder, nested, combiner->combine(builder, nested, scalars[1], value));
        });
    Value result = generic.getResult(0);
    if (accumulator != element)
      result = elementwiseGeneric(rewriter, loc, result, emptyLike(rewriter, loc, op->getResult(0)),
                                  [&](OpBuilder &builder, ValueRange scalars) {
                                    return convertScalar(builder, loc, scalars[0], element);
                                  });
    rewriter.replaceOp(op, result);
    return success();
  }
};

// A key whose signed integer order is the order of the values: -0 < +0, and NaN above everything.
Value orderKey(OpBuilder &builder, Location loc, Value value, bool negate) {
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

// Carries the best key and its index; only a strictly better key replaces, so the first one wins.
template <class OpTy, bool isMinimum> struct LowerArgReduce : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t rank = type.getRank();
    Type i64 = rewriter.getI64Type();
    Value empty = emptyLike(rewriter, loc, op->getResult(0), i64);
    Value keys = fillTensor(rewriter, loc, empty, extremum(rewriter, loc, i64, /*smallest=*/true));
    Value indices = fillTensor(rewriter, loc, empty, numberConstant(rewriter, loc, i64, 0));
    auto [in, out] = reductionMaps(op.getContext(), rank, op.getAxis(), /*keepDims=*/false);
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange{keys.getType(), indices.getType()}, op.getInput(), ValueRange{keys, indices},
        ArrayRef<AffineMap>{in, out, out}, reductionIterators(rank),
        [&](OpBuilder &builder, Location nested, ValueRange scalars) {
          Value key = orderKey(builder, nested, scalars[0], isMinimum);
          Value index = arith::IndexCastOp::create(builder, nested, i64,
                                                   linalg::IndexOp::create(builder, nested, rank - 1));
          Value better = arith::CmpIOp::create(builder, nested, arith::CmpIPredicate::sgt, key, scalars[1]);
          Value bestKey = arith::SelectOp::create(builder, nested, better, key, scalars[1]);
          Value bestIndex = arith::SelectOp::create(builder, nested, better, index, scalars[2]);
          linalg::YieldOp::create(builder, nested, ValueRange{bestKey, bestIndex});
        });
    rewriter.replaceOp(op, generic.getResult(1));
    return success();
  }
};

// One chain per line; the first output keeps every step, the second carries the accumulator.
struct LowerCumsum : OpRewritePattern<CumsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CumsumOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t rank = type.getRank();
    Type element = type.getElementType(), accumulator = accumulatorType(element);
    auto [in, out] = reductionMaps(op.getContext(), rank, op.getAxis(), /*keepDims=*/false);
    Value steps = emptyLike(rewriter, loc, op->getResult(0));
    SmallVector<int64_t> lineShape(type.getShape());
    lineShape.erase(lineShape.begin() + op.getAxis());
    SmallVector<Value> lineSizes;
    for (int64_t i = 0; i < rank; ++i)
      if (i != int64_t(op.getAxis()) && type.isDynamicDim(i))
        lineSizes.push_back(dimensionOf(rewriter, loc, op.getInput(), i));
    Value lines = tensor::EmptyOp::create(rewriter, loc, lineShape, accumulator, lineSizes);
    lines = fillTensor(rewriter, loc, lines, numberConstant(rewriter, loc, accumulator, 0));
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange{steps.getType(), lines.getType()}, op.getInput(), ValueRange{steps, lines},
        ArrayRef<AffineMap>{in, in, out}, reductionIterators(rank),
        [&](OpBuilder &builder, Location nested, ValueRange scalars) {
          Value value = convertScalar(builder, nested, scalars[0], accumulator);
          Value sum = isa<FloatType>(accumulator)
                          ? Value(arith::AddFOp::create(builder, nested, scalars[2], value))
                          : Value(arith::AddIOp::create(builder, nested, scalars[2], value));
          linalg::YieldOp::create(builder, nested,
                                  ValueRange{convertScalar(builder, nested, sum, element), sum});
        });
    rewriter.replaceOp(op, generic.getResult(0));
    return success();
  }

  static Value dimensionOf(OpBuilder &builder, Location loc, Value tensor, int64_t axis) {
    return builder.createOrFold<tensor::DimOp>(loc, tensor, axis);
  }
};
} // namespace

void ad::populateReductionToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerReduce<ReduceSumOp>, LowerReduce<ReduceProdOp>, LowerReduce<ReduceMaxOp>,
               LowerReduce<ReduceMinOp>, LowerArgReduce<ArgmaxOp, false>, LowerArgReduce<ArgminOp, true>,
               LowerCumsum>(patterns.getContext());
}
