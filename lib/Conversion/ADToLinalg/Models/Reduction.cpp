// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Linalg of operations that reduce an axis in a way of their own: the index of a largest or smallest element,
// and running reductions.

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
          Value key = ScalarCode{b, l}.orderKey(scalars[0], /*descending=*/isMinimum);
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
template <class OpTy> struct RunningLowering : LoweringModel<RunningLowering<OpTy>, OpTy> {
  static Value lower(OpTy op, OpBuilder &builder) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t rank = type.getRank();
    Combiner combiner = op.getCombiner();
    Type element = type.getElementType(), accumulator = combiningType(combiner, element);
    auto [in, out] = mapsAlong(op.getContext(), rank, op.getAxis());
    Value steps = emptyLike(builder, loc, op->getResult(0));
    SmallVector<int64_t> rowShape(type.getShape());
    rowShape.erase(rowShape.begin() + op.getAxis());
    SmallVector<Value> rowSizes;
    for (int64_t i = 0; i < rank; ++i)
      if (i != int64_t(op.getAxis()) && type.isDynamicDim(i))
        rowSizes.push_back(dimension(builder, loc, op.getInput(), i));
    Value rows = tensor::EmptyOp::create(builder, loc, rowShape, accumulator, rowSizes);
    rows = fillTensor(builder, loc, rows, identityOf(builder, loc, combiner, accumulator));
    auto generic = linalg::GenericOp::create(
        builder, loc, TypeRange{steps.getType(), rows.getType()}, op.getInput(), ValueRange{steps, rows},
        ArrayRef<AffineMap>{in, in, out}, iteratorsAlongOneAxis(rank),
        [&](OpBuilder &b, Location l, ValueRange scalars) {
          Value value = convertScalar(b, l, scalars[0], accumulator);
          Value next = combineScalars(b, l, combiner, scalars[2], value);
          linalg::YieldOp::create(b, l, ValueRange{convertScalar(b, l, next, element), next});
        });
    return generic.getResult(0);
  }
};
} // namespace

void ad::registerReductionModels(DialectRegistry &registry) {
  registerLoweringModels<ArgReduceLowering<ArgmaxOp, false>, ArgReduceLowering<ArgminOp, true>,
                         RunningLowering<CumsumOp>, RunningLowering<CumprodOp>, RunningLowering<CummaxOp>,
                         RunningLowering<CumminOp>>(registry);
}
