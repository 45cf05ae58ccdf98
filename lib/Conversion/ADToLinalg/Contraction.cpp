// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions to linalg: one generic that accumulates fma in the accumulator type, then the rest of the
// operation and the one rounding, elementwise.

#include "ADToLinalg.h"
#include "adjoint/Codegen/Kernel/Contractions.h"

using namespace mlir;
using namespace mlir::ad;

// acc + a * b as the contract says: fused for floats, wrapping for integers.
static Value accumulate(OpBuilder &builder, Location loc, Value a, Value b, Value acc) {
  a = convertScalar(builder, loc, a, acc.getType());
  b = convertScalar(builder, loc, b, acc.getType());
  if (isa<FloatType>(acc.getType()))
    return math::FmaOp::create(builder, loc, a, b, acc);
  return arith::AddIOp::create(builder, loc, acc, arith::MulIOp::create(builder, loc, a, b));
}

static Value contract(OpBuilder &builder, OpResult result, Value lhs, Value rhs, ArrayRef<AffineMap> maps,
                      ArrayRef<utils::IteratorType> iterators, Type accumulator) {
  Location loc = result.getLoc();
  Value empty = emptyLike(builder, loc, result, accumulator);
  Value init = fillTensor(builder, loc, empty, numberConstant(builder, loc, accumulator, 0));
  // Without a contracted axis nothing carries the accumulator, which is then the zero that it starts from.
  bool sums = llvm::is_contained(iterators, utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), ValueRange{lhs, rhs}, init, maps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
        Value from = sums ? scalars[2] : numberConstant(nested, nestedLoc, accumulator, 0);
        linalg::YieldOp::create(nested, nestedLoc,
                                accumulate(nested, nestedLoc, scalars[0], scalars[1], from));
      });
  auto contraction = cast<NumericsOpInterface>(result.getOwner());
  if (bitEnumContainsAll(contraction.getPermissions(), Permissions::mma))
    generic->setAttr(kMmaAttr, builder.getUnitAttr());
  return generic.getResult(0);
}

// Loop dimensions: those of the result (batch, free lhs, free rhs), then the contracted ones in the listed
// order.
static SmallVector<AffineMap> accessMaps(DotOp op, SmallVectorImpl<utils::IteratorType> &iterators) {
  MLIRContext *context = op.getContext();
  auto rankOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank(); };
  SmallVector<AffineExpr> lhsMap(rankOf(op.getLhs())), rhsMap(rankOf(op.getRhs())), outMap;
  auto loop = [&](utils::IteratorType kind) {
    iterators.push_back(kind);
    return getAffineDimExpr(iterators.size() - 1, context);
  };
  auto parallel = [&](AffineExpr &slot) {
    slot = loop(utils::IteratorType::parallel);
    outMap.push_back(slot);
  };
  for (auto [l, r] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch())) {
    parallel(lhsMap[l]);
    rhsMap[r] = lhsMap[l];
  }
  auto free = [&](SmallVectorImpl<AffineExpr> &map, ArrayRef<int64_t> contracted) {
    for (int64_t i = 0, e = map.size(); i < e; ++i)
      if (!map[i] && !llvm::is_contained(contracted, i))
        parallel(map[i]);
  };
  free(lhsMap, op.getLhsContract());
  free(rhsMap, op.getRhsContract());
  for (auto [l, r] : llvm::zip_equal(op.getLhsContract(), op.getRhsContract()))
    lhsMap[l] = rhsMap[r] = loop(utils::IteratorType::reduction);
  unsigned loops = iterators.size();
  return {AffineMap::get(loops, 0, lhsMap, context), AffineMap::get(loops, 0, rhsMap, context),
          AffineMap::get(loops, 0, outMap, context)};
}

namespace {
struct LowerDot : OpRewritePattern<DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DotOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto lhsType = cast<RankedTensorType>(op.getLhs().getType());
    SmallVector<utils::IteratorType> iterators;
    SmallVector<AffineMap> maps = accessMaps(op, iterators);
    Type element = getElementTypeOrSelf(op.getResult());
    Type accumulator = accumulatorType(lhsType.getElementType());
    Value sum = contract(rewriter, op->getResult(0), op.getLhs(), op.getRhs(), maps, iterators, accumulator);
    if (accumulator != element)
      sum = elementwiseGeneric(rewriter, loc, sum, emptyLike(rewriter, loc, op->getResult(0)),
                               [&](OpBuilder &builder, ValueRange scalars) {
                                 return convertScalar(builder, loc, scalars[0], element);
                               });
    rewriter.replaceOp(op, sum);
    return success();
  }
};

struct LowerGemm : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GemmOp op, PatternRewriter &rewriter) const override {
    MLIRContext *context = op.getContext();
    AffineExpr m = rewriter.getAffineDimExpr(0), n = rewriter.getAffineDimExpr(1),
               k = rewriter.getAffineDimExpr(2);
    auto matrix = [&](AffineExpr row, AffineExpr column, bool transposed) {
      return transposed ? AffineMap::get(3, 0, {column, row}, context)
                        : AffineMap::get(3, 0, {row, column}, context);
    };
    SmallVector<AffineMap> maps = {matrix(m, k, op.getTransA()), matrix(k, n, op.getTransB()),
                                   matrix(m, n, false)};
    using I = utils::IteratorType;
    Type element = getElementTypeOrSelf(op.getResult());
    Type accumulator = accumulatorType(getElementTypeOrSelf(op.getLhs()));
    Value sum = contract(rewriter, op->getResult(0), op.getLhs(), op.getRhs(), maps,
                         {I::parallel, I::parallel, I::reduction}, accumulator);
    double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble();
    if (alpha != 1 || op.getBias() || accumulator != element)
      sum = epilogue(rewriter, op, sum, alpha, beta, accumulator, element);
    rewriter.replaceOp(op, sum);
    return success();
  }

  // convert(alpha * sum + beta * bias), every step in the accumulator type.
  static Value epilogue(OpBuilder &builder, GemmOp op, Value sum, double alpha, double beta, Type accumulator,
                        Type element) {
    Location loc = op.getLoc();
    SmallVector<Value> inputs = {sum};
    SmallVector<AffineMap> maps = {builder.getMultiDimIdentityMap(2)};
    if (Value bias = op.getBias()) {
      auto type = cast<RankedTensorType>(bias.getType());
      SmallVector<AffineExpr> access;
      for (int64_t i = 0; i < type.getRank(); ++i)
        access.push_back(type.getDimSize(i) == 1 ? builder.getAffineConstantExpr(0)
                                                 : builder.getAffineDimExpr(2 - type.getRank() + i));
      inputs.push_back(bias);
      maps.push_back(AffineMap::get(2, 0, access, op.getContext()));
    }
    maps.push_back(builder.getMultiDimIdentityMap(2));
    Value init = emptyLike(builder, loc, op->getResult(0));
    SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder, loc, init.getType(), inputs, init, maps, iterators,
        [&](OpBuilder &b, Location l, ValueRange scalars) {
          Value value = scalars[0];
          if (alpha != 1)
            value = arith::MulFOp::create(b, l, value, numberConstant(b, l, accumulator, alpha));
          if (inputs.size() > 1) {
            Value bias = convertScalar(b, l, scalars[1], accumulator);
            if (beta != 1)
              bias = arith::MulFOp::create(b, l, bias, numberConstant(b, l, accumulator, beta));
            value = arith::AddFOp::create(b, l, value, bias);
          }
          linalg::YieldOp::create(b, l, convertScalar(b, l, value, element));
        });
    return generic.getResult(0);
  }
};
} // namespace

void ad::populateContractionToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerDot, LowerGemm>(patterns.getContext());
}
