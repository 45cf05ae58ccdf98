// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of the `check` dialect: a reduction over all elements, and an assertion. The comparisons are
// those of the runtime.

#include "HostCode.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::plain;

static Value isNaN(const ScalarCode &code, Value number) {
  return code.compare(arith::CmpFPredicate::UNO, number, number);
}

/// Same bits, or NaN on both sides.
static Value areEqual(const ScalarCode &code, Value actual, Value expected) {
  Type type = actual.getType();
  if (!isa<FloatType>(type))
    return code.compare(arith::CmpIPredicate::eq, actual, expected);
  Type bits = code.builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value same = code.compare(arith::CmpIPredicate::eq,
                            arith::BitcastOp::create(code.builder, code.loc, bits, actual).getResult(),
                            arith::BitcastOp::create(code.builder, code.loc, bits, expected).getResult());
  SmallVector<Value> wide = code.widen({actual, expected});
  Value both = code.make<arith::AndIOp>({isNaN(code, wide[0]), isNaN(code, wide[1])});
  return code.make<arith::OrIOp>({same, both});
}

static Value magnitude(const ScalarCode &code, Value number) {
  return math::AbsFOp::create(code.builder, code.loc, number);
}

static Value isFinite(const ScalarCode &code, Value number) {
  auto type = cast<FloatType>(number.getType());
  Value infinity = arith::ConstantOp::create(code.builder, code.loc,
                                             FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics())));
  return code.compare(arith::CmpFPredicate::OLT, magnitude(code, number), infinity);
}

/// The distance is at most the tolerance, in f64.
static Value areClose(const ScalarCode &code, check::ExpectAlmostEqOp check, Value actual, Value expected) {
  Type wide = code.builder.getF64Type();
  Value equal = areEqual(code, actual, expected);
  Value a = code.convert(actual, wide), e = code.convert(expected, wide);
  Value distance = magnitude(code, arith::SubFOp::create(code.builder, code.loc, a, e));
  Value bound = arith::ConstantOp::create(code.builder, code.loc, check.getToleranceAttr());
  if (check.getRelative())
    bound = code.make<arith::MulFOp>({bound, magnitude(code, e)});
  Value close = code.compare(arith::CmpFPredicate::OLE, distance, bound);
  return code.make<arith::OrIOp>({equal, code.make<arith::AndIOp>({isFinite(code, e), close})});
}

/// Whether the condition holds for all elements.
static Value holdsForAll(OpBuilder &builder, Location loc, ValueRange tensors,
                         function_ref<Value(const ScalarCode &, ValueRange)> condition) {
  int64_t rank = cast<RankedTensorType>(tensors.front().getType()).getRank();
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(), builder.getI1Type());
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value start = linalg::FillOp::create(builder, loc, yes, empty).getResult(0);
  SmallVector<AffineMap> maps(tensors.size(), builder.getMultiDimIdentityMap(rank));
  maps.push_back(AffineMap::get(rank, 0, builder.getContext()));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::reduction);
  auto all = linalg::GenericOp::create(builder, loc, start.getType(), tensors, start, maps, iterators,
                                       [&](OpBuilder &nested, Location, ValueRange scalars) {
                                         ScalarCode code{nested, loc};
                                         Value holds = condition(code, scalars.drop_back());
                                         linalg::YieldOp::create(
                                             nested, loc, code.make<arith::AndIOp>({scalars.back(), holds}));
                                       });
  return tensor::ExtractOp::create(builder, loc, all.getResult(0), ValueRange());
}

/// Dynamic sizes of both tensors. linalg does not compare them.
static void assertSameSizes(OpBuilder &builder, Operation *check) {
  Location loc = check->getLoc();
  auto type = cast<RankedTensorType>(check->getOperand(0).getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    Value actual = tensor::DimOp::create(builder, loc, check->getOperand(0), axis);
    Value expected = tensor::DimOp::create(builder, loc, check->getOperand(1), axis);
    Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, actual, expected);
    assertThat(builder, loc, same, check->getName().getStringRef(), "failed: the shapes differ");
  }
}

namespace {
struct LowerExpectEq : OpRewritePattern<check::ExpectEqOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(check::ExpectEqOp check, PatternRewriter &rewriter) const override {
    assertSameSizes(rewriter, check);
    Value holds = holdsForAll(
        rewriter, check.getLoc(), check->getOperands(),
        [](const ScalarCode &code, ValueRange scalars) { return areEqual(code, scalars[0], scalars[1]); });
    assertThat(rewriter, check.getLoc(), holds, "check.expect_eq", "failed: elements differ");
    rewriter.eraseOp(check);
    return success();
  }
};

struct LowerExpectAlmostEq : OpRewritePattern<check::ExpectAlmostEqOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(check::ExpectAlmostEqOp check, PatternRewriter &rewriter) const override {
    assertSameSizes(rewriter, check);
    Value holds = holdsForAll(rewriter, check.getLoc(), check->getOperands(),
                              [&](const ScalarCode &code, ValueRange scalars) {
                                return areClose(code, check, scalars[0], scalars[1]);
                              });
    assertThat(rewriter, check.getLoc(), holds, "check.expect_almost_eq",
               "failed: elements differ by more than the tolerance");
    rewriter.eraseOp(check);
    return success();
  }
};

struct LowerExpectFinite : OpRewritePattern<check::ExpectFiniteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(check::ExpectFiniteOp check, PatternRewriter &rewriter) const override {
    Value holds = holdsForAll(rewriter, check.getLoc(), check->getOperands(),
                              [](const ScalarCode &code, ValueRange scalars) {
                                return isFinite(code, code.widen(scalars).front());
                              });
    assertThat(rewriter, check.getLoc(), holds, "check.expect_finite", "failed: an element is not finite");
    rewriter.eraseOp(check);
    return success();
  }
};
} // namespace

void plain::populateCheckPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerExpectEq, LowerExpectAlmostEq, LowerExpectFinite>(patterns.getContext());
}
