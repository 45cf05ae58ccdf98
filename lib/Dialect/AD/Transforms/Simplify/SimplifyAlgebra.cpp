// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Identities of real numbers that rounding, -0, infinities or NaN break. Each goes through the pattern base
// with the permission it needs; the bit-exact ones are folders of the operations themselves.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/Transforms/NumericsPattern.h"
#include "adjoint/Dialect/AD/Transforms/Patterns.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }
static bool isFloat(Value value) { return isa<FloatType>(elementOf(value)); }

// The one value that all elements have, seen through broadcasts and ad.full, never through ad.barrier.
static std::optional<APFloat> repeatedValue(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  if (auto full = value.getDefiningOp<FullOp>())
    value = full.getValue();
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar.getValue();
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)) && dense.isSplat() && isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>();
  return std::nullopt;
}

static bool isZero(Value value) {
  std::optional<APFloat> number = repeatedValue(value);
  return number && number->isZero();
}

// Whether the value can replace the result of the operation: same type, and no other operand repeats it.
static bool canReplace(Operation *op, Value value) {
  return value.getType() == op->getResult(0).getType() && haveSameShape(value, op->getResult(0));
}

namespace {
// A pattern for one operation that needs one permission and replaces the root by a value.
template <typename OpTy> struct AlgebraPattern : NumericsPattern<OpTy> {
  AlgebraPattern(MLIRContext *context, StringRef name, Permissions needed = Permissions::algebra)
      : NumericsPattern<OpTy>(context, name, needed) {}

  void rewrite(OpTy op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, build(op, rewriter));
  }
  virtual Value build(OpTy op, PatternRewriter &rewriter) const = 0;
};

// n + 0 and n - 0 are n; the bit-exact forms n + -0 and n - +0 are folders.
template <typename OpTy> struct DropZero : AlgebraPattern<OpTy> {
  explicit DropZero(MLIRContext *context) : AlgebraPattern<OpTy>(context, "drop-zero") {}

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!isFloat(op) || !other(op))
      return rewriter.notifyMatchFailure(op,
                                         "expected a float zero everywhere as an operand, the right one of "
                                         "a difference");
    if (!canReplace(op, other(op)))
      return rewriter.notifyMatchFailure(op,
                                         "expected another operand with the type and shape of the result");
    return success();
  }
  Value build(OpTy op, PatternRewriter &) const override { return other(op); }

  // The operand beside a zero. Constants are on the right, but not zeros of dynamic size.
  static Value other(OpTy op) {
    bool mayBeLeft = std::is_same_v<OpTy, AddOp> && isZero(op.getLhs());
    return isZero(op.getRhs()) ? op.getLhs() : mayBeLeft ? op.getRhs() : Value();
  }
};

// 0 - n is -n.
struct SubtractFromZero : AlgebraPattern<SubOp> {
  explicit SubtractFromZero(MLIRContext *context) : AlgebraPattern(context, "subtract-from-zero") {}

  LogicalResult match(SubOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!isFloat(op) || !isZero(op.getLhs()))
      return rewriter.notifyMatchFailure(op, "expected a float zero everywhere as the left operand");
    if (!canReplace(op, op.getRhs()))
      return rewriter.notifyMatchFailure(op,
                                         "expected a right operand with the type and shape of the result");
    return success();
  }
  Value build(SubOp op, PatternRewriter &rewriter) const override {
    return NegOp::create(rewriter, op.getLoc(), op.getType(), op.getRhs(), PermissionsAttr());
  }
};

// n * 0 is 0, wrong for infinities, NaN and the sign.
struct MultiplyByZero : AlgebraPattern<MulOp> {
  explicit MultiplyByZero(MLIRContext *context) : AlgebraPattern(context, "multiply-by-zero") {}

  LogicalResult match(MulOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!isFloat(op) || (!isZero(op.getRhs()) && !isZero(op.getLhs())))
      return rewriter.notifyMatchFailure(op, "expected a float zero everywhere as an operand");
    if (!canReplace(op, op.getLhs()) && !canReplace(op, op.getRhs()))
      return rewriter.notifyMatchFailure(op, "expected an operand with the type and shape of the result");
    return success();
  }
  Value build(MulOp op, PatternRewriter &rewriter) const override {
    for (Value operand : {op.getRhs(), op.getLhs()})
      if (isZero(operand) && canReplace(op, operand))
        return operand;
    Value whole = canReplace(op, op.getLhs()) ? op.getLhs() : op.getRhs();
    return fullLike(rewriter, op.getLoc(), whole, 0.0);
  }
};

// 0 / n is 0.
struct DivideZero : AlgebraPattern<DivOp> {
  explicit DivideZero(MLIRContext *context) : AlgebraPattern(context, "divide-zero") {}

  LogicalResult match(DivOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!isFloat(op) || !isZero(op.getLhs()))
      return rewriter.notifyMatchFailure(op, "expected a float zero everywhere as the left operand");
    if (!canReplace(op, op.getLhs()))
      return rewriter.notifyMatchFailure(op, "expected a zero with the type and shape of the result");
    return success();
  }
  Value build(DivOp op, PatternRewriter &) const override { return op.getLhs(); }
};

// n - n is 0 and n / n is 1.
template <typename OpTy> struct CancelOperands : AlgebraPattern<OpTy> {
  explicit CancelOperands(MLIRContext *context) : AlgebraPattern<OpTy>(context, "cancel-operands") {}

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    if (!isFloat(op) || op.getLhs() != op.getRhs())
      return rewriter.notifyMatchFailure(op, "expected one float as both operands");
    return success();
  }
  Value build(OpTy op, PatternRewriter &rewriter) const override {
    return fullLike(rewriter, op.getLoc(), op.getLhs(), std::is_same_v<OpTy, DivOp> ? 1.0 : 0.0);
  }
};

// (a * c1) * c2 is a * (c1 * c2), and the same for sums. The constants are then folded with one rounding.
template <typename OpTy> struct CombineConstants : AlgebraPattern<OpTy> {
  explicit CombineConstants(MLIRContext *context) : AlgebraPattern<OpTy>(context, "combine-constants") {}

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &touched,
                      PatternRewriter &rewriter) const override {
    auto inner = op.getLhs().template getDefiningOp<OpTy>();
    if (!isFloat(op) || !inner)
      return rewriter.notifyMatchFailure(op, "expected the same operation on floats as the left operand");
    if (!op.getRhs().template getDefiningOp<ConstantOp>() ||
        !inner.getRhs().template getDefiningOp<ConstantOp>())
      return rewriter.notifyMatchFailure(op, "expected constants as the right operands of both operations");
    touched.push_back(inner);
    return success();
  }
  Value build(OpTy op, PatternRewriter &rewriter) const override {
    auto inner = op.getLhs().template getDefiningOp<OpTy>();
    Value constant = OpTy::create(rewriter, op.getLoc(), inner.getRhs(), op.getRhs(), PermissionsAttr());
    return OpTy::create(rewriter, op.getLoc(), op.getType(), inner.getLhs(), constant, PermissionsAttr());
  }
};

// n / c is n * (1 / c): two roundings instead of one.
struct MultiplyByInverse : AlgebraPattern<DivOp> {
  explicit MultiplyByInverse(MLIRContext *context) : AlgebraPattern(context, "multiply-by-inverse") {}

  LogicalResult match(DivOp op, SmallVectorImpl<Operation *> &, PatternRewriter &rewriter) const override {
    auto constant = op.getRhs().getDefiningOp<ConstantOp>();
    std::optional<APFloat> divisor = constant && isFloat(op) ? repeatedValue(op.getRhs()) : std::nullopt;
    if (!divisor || !divisor->isFiniteNonZero())
      return rewriter.notifyMatchFailure(
          op, "expected a finite constant float other than 0 as the right operand");
    if (op.getLhs().getDefiningOp<ConstantOp>())
      return rewriter.notifyMatchFailure(op, "expected a left operand that is no constant");
    APFloat inverse(divisor->getSemantics(), 1);
    inverse.divide(*divisor, APFloat::rmNearestTiesToEven);
    if (!inverse.isNormal())
      return rewriter.notifyMatchFailure(op, "expected a divisor whose inverse is a normal number");
    return success();
  }
  Value build(DivOp op, PatternRewriter &rewriter) const override {
    Value one = fullLike(rewriter, op.getLoc(), op.getRhs(), 1.0);
    Value inverse = DivOp::create(rewriter, op.getLoc(), one, op.getRhs(), PermissionsAttr());
    return MulOp::create(rewriter, op.getLoc(), op.getType(), op.getLhs(), inverse, PermissionsAttr());
  }
};

// a * b + c is fma(a, b, c), one rounding less. In narrower types the product would also stay unrounded to
// them.
struct ContractMultiplyAdd : AlgebraPattern<AddOp> {
  explicit ContractMultiplyAdd(MLIRContext *context)
      : AlgebraPattern(context, "contract-multiply-add", Permissions::contract) {}

  static MulOp product(AddOp op) {
    for (Value operand : op->getOperands())
      if (auto product = operand.getDefiningOp<MulOp>(); product && product->hasOneUse())
        return product;
    return nullptr;
  }

  LogicalResult match(AddOp op, SmallVectorImpl<Operation *> &touched,
                      PatternRewriter &rewriter) const override {
    if (!elementOf(op).isF32() && !elementOf(op).isF64())
      return rewriter.notifyMatchFailure(op, "expected f32 or f64");
    MulOp factor = product(op);
    if (!factor)
      return rewriter.notifyMatchFailure(op, "expected a product without other users as an operand");
    touched.push_back(factor);
    return success();
  }
  Value build(AddOp op, PatternRewriter &rewriter) const override {
    MulOp factor = product(op);
    Value addend = op.getLhs() == factor.getResult() ? op.getRhs() : op.getLhs();
    return FmaOp::create(rewriter, op.getLoc(), op.getType(), factor.getLhs(), factor.getRhs(), addend,
                         PermissionsAttr());
  }
};

// A cast to a narrower float and back, or on to another type, without the rounding between.
struct SkipRounding : AlgebraPattern<CastOp> {
  explicit SkipRounding(MLIRContext *context)
      : AlgebraPattern(context, "skip-rounding", Permissions::widen) {}

  LogicalResult match(CastOp op, SmallVectorImpl<Operation *> &touched,
                      PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<CastOp>();
    if (!inner || !isFloat(inner.getInput()) || !isFloat(inner) || !isFloat(op))
      return rewriter.notifyMatchFailure(op, "expected a cast of a cast between floats");
    unsigned between = elementOf(inner).getIntOrFloatBitWidth();
    if (between >= elementOf(inner.getInput()).getIntOrFloatBitWidth() ||
        between >= elementOf(op).getIntOrFloatBitWidth())
      return rewriter.notifyMatchFailure(op, "expected a narrower type between two wider ones");
    touched.push_back(inner);
    return success();
  }
  Value build(CastOp op, PatternRewriter &rewriter) const override {
    return castTo(rewriter, op.getLoc(), op.getInput().getDefiningOp<CastOp>().getInput(), elementOf(op));
  }
};

// The product, rounded to a narrower type than f32, that has no other use; seen through a broadcast.
DotOp roundedProduct(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>(); broadcast && broadcast->hasOneUse())
    value = broadcast.getInput();
  auto product = value.getDefiningOp<DotOp>();
  bool narrow = isFloat(value) && elementOf(value).getIntOrFloatBitWidth() < 32;
  return product && narrow && product->hasOneUse() ? product : DotOp();
}

// The operand of a sum in f32, without the rounding of a product.
Value accumulated(PatternRewriter &rewriter, Value value) {
  Location loc = value.getLoc();
  auto wide = cast<RankedTensorType>(value.getType()).clone(rewriter.getF32Type());
  DotOp product = roundedProduct(value);
  if (!product)
    return castTo(rewriter, loc, value, rewriter.getF32Type());
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return BroadcastOp::create(rewriter, loc, wide, accumulated(rewriter, broadcast.getInput()),
                               broadcast.getSizes(), PermissionsAttr());
  auto made = DotOp::create(rewriter, loc, wide, product.getLhs(), product.getRhs(), product.getLhsBatch(),
                            product.getRhsBatch(), product.getLhsContract(), product.getRhsContract(),
                            product.getOrderAttr(), PermissionsAttr());
  keepInstruction(product, made);
  return made;
}

// x y + b where the product is rounded to a narrow type: b is added to the accumulator instead, as ad.gemm
// does.
template <typename OpTy> struct AddBiasInAccumulator : AlgebraPattern<OpTy> {
  explicit AddBiasInAccumulator(MLIRContext *context)
      : AlgebraPattern<OpTy>(context, "add-bias-in-accumulator", Permissions::widen) {}

  LogicalResult match(OpTy op, SmallVectorImpl<Operation *> &touched,
                      PatternRewriter &rewriter) const override {
    for (Value operand : {op.getLhs(), op.getRhs()})
      if (DotOp product = roundedProduct(operand))
        touched.push_back(product);
    if (touched.size() == 1)
      return rewriter.notifyMatchFailure(op, "expected a rounded product that has no other use");
    return success();
  }
  Value build(OpTy op, PatternRewriter &rewriter) const override {
    Value lhs = accumulated(rewriter, op.getLhs()), rhs = accumulated(rewriter, op.getRhs());
    auto wide = cast<RankedTensorType>(op.getType()).clone(rewriter.getF32Type());
    Value sum = OpTy::create(rewriter, op.getLoc(), wide, lhs, rhs, PermissionsAttr());
    return castTo(rewriter, op.getLoc(), sum, elementOf(op));
  }
};
} // namespace

void ad::populateAlgebraPatterns(RewritePatternSet &patterns) {
  patterns.add<DropZero<AddOp>, DropZero<SubOp>, SubtractFromZero, MultiplyByZero, DivideZero,
               CancelOperands<SubOp>, CancelOperands<DivOp>, CombineConstants<MulOp>, CombineConstants<AddOp>,
               MultiplyByInverse, ContractMultiplyAdd, SkipRounding, AddBiasInAccumulator<AddOp>,
               AddBiasInAccumulator<SubOp>>(patterns.getContext());
}
