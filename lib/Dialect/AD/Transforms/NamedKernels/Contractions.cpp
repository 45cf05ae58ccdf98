// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of f32 with narrower products: operands rounded to tf32, or split into parts of bf16. Sums
// stay f32. The splits are operations of `ad`, so that every target computes the same bits of them. Tensor
// cores may multiply the parts (decision 0030). docs/named-kernels.md derives the bounds.

#include "../ContractionEpilogue.h"
#include "../TensorCores.h"
#include "Implementations.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad;

// The largest finite bf16.
static const double kLargestBf16 = std::ldexp(255.0, 120);

static Value constantLike(Steps &steps, Value x, double value) {
  return fullLike(steps.builder, steps.loc, x, value);
}

static Value select(Steps &steps, Value condition, Value yes, Value no) {
  return SelectOp::create(steps.builder, steps.loc, yes.getType(), condition, yes, no, PermissionsAttr());
}

static RankedTensorType conditionType(Steps &steps, Value x) {
  return cast<RankedTensorType>(x.getType()).clone(steps.builder.getI1Type());
}

// x rounded to 11 significant bits, by Veltkamp: c = (2^13 + 1) * x, then c - (c - x). Numbers of at least
// 2^100 are scaled first, since c would overflow; infinities and NaN stay.
static Value roundToTf32(Steps &steps, Value x) {
  const double huge = std::ldexp(1.0, 100), down = std::ldexp(1.0, -20), up = std::ldexp(1.0, 20);
  Value isHuge = CompareOp::create(steps.builder, steps.loc, conditionType(steps, x), ComparePredicate::ge,
                                   steps.unary<AbsOp>(x), constantLike(steps, x, huge), PermissionsAttr());
  Value small = select(steps, isHuge, steps.binary<MulOp>(x, constantLike(steps, x, down)), x);
  Value product = steps.binary<MulOp>(small, constantLike(steps, x, 8193.0));
  Value rounded = steps.binary<SubOp>(product, steps.binary<SubOp>(product, small));
  rounded = select(steps, isHuge, steps.binary<MulOp>(rounded, constantLike(steps, x, up)), rounded);
  Value isFinite =
      IsFiniteOp::create(steps.builder, steps.loc, conditionType(steps, x), x, PermissionsAttr());
  return select(steps, isFinite, rounded, x);
}

// The first `count` parts of bf16 of x: each is the rest after the parts before it, rounded. The first part
// of a finite number stays finite. Three parts have 24 significant bits, so they are x, but for what is below
// 2^-133.
static SmallVector<Value> splitIntoBf16(Steps &steps, Value x, int64_t count) {
  Type narrow = steps.builder.getBF16Type(), wide = getElementTypeOrSelf(x.getType());
  SmallVector<Value> parts;
  Value rest = x;
  for (int64_t part = 0; part < count; ++part) {
    Value value = rest;
    if (part == 0) {
      value = steps.binary<MaxOp>(value, constantLike(steps, x, -kLargestBf16));
      value = steps.binary<MinOp>(value, constantLike(steps, x, kLargestBf16));
    }
    parts.push_back(castTo(steps.builder, steps.loc, value, narrow));
    if (part + 1 < count)
      rest = steps.binary<SubOp>(rest, castTo(steps.builder, steps.loc, parts.back(), wide));
  }
  return parts;
}

// The sum of products, not yet rounded to the result, of operands that replace those of the contraction.
static Value sumOfProducts(DotOp op, Steps &steps, Value lhs, Value rhs) {
  auto type = op.getType().clone(accumulatorType(getElementTypeOrSelf(op.getLhs().getType())));
  return DotOp::create(steps.builder, steps.loc, type, lhs, rhs, op.getLhsBatch(), op.getRhsBatch(),
                       op.getLhsContract(), op.getRhsContract(), op.getOrderAttr(), PermissionsAttr());
}

static Value sumOfProducts(GemmOp op, Steps &steps, Value lhs, Value rhs) {
  auto type = op.getType().clone(accumulatorType(getElementTypeOrSelf(op.getLhs().getType())));
  return DotOp::create(steps.builder, steps.loc, type, lhs, rhs, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                       ArrayRef<int64_t>{op.getTransA() ? 0 : 1}, ArrayRef<int64_t>{op.getTransB() ? 1 : 0},
                       op.getOrderAttr(), PermissionsAttr());
}

template <typename OpTy> static Value contractTf32(OpTy op, Steps &steps) {
  Value lhs = roundToTf32(steps, op.getLhs()), rhs = roundToTf32(steps, op.getRhs());
  return emitEpilogue(steps.builder, op, sumOfProducts(op, steps, lhs, rhs));
}

// Lets tensor cores sum the products of two parts where the contraction permits them. The instruction is
// written with the permission: tensor cores truncate, so that their sums are short and promoted, and CPUs do
// not use an instruction of their own, which would lose parts that are subnormal.
static void useTensorCores(Operation *contraction, Value product) {
  auto numerics = cast<NumericsOpInterface>(product.getDefiningOp());
  constexpr Permissions needed = Permissions::reorder | Permissions::mma;
  if (!allows(contraction, needed) || !whyNoTensorCores(numerics).empty())
    return;
  numerics.setPermissions(Permissions::mma);
  InstructionAttr promoted = InstructionAttr::ofPromotedShortFloats(product.getContext());
  numerics->setAttr(kInstructionAttr, promoted.withChain(chainOnTensorCores(numerics)));
}

// Sums the products of part i and part j, those with the largest i + j first, since they are the smallest.
template <typename OpTy> static Value contractBf16(OpTy op, Steps &steps, int64_t parts, int64_t largest) {
  SmallVector<Value> lhs = splitIntoBf16(steps, op.getLhs(), parts);
  SmallVector<Value> rhs = splitIntoBf16(steps, op.getRhs(), parts);
  Value sum;
  for (int64_t level = largest; level >= 0; --level)
    for (int64_t i = 0; i < parts; ++i) {
      int64_t j = level - i;
      if (j < 0 || j >= parts)
        continue;
      Value product = sumOfProducts(op, steps, lhs[i], rhs[j]);
      useTensorCores(op, product);
      sum = sum ? steps.binary<AddOp>(sum, product) : product;
    }
  return emitEpilogue(steps.builder, op, sum);
}

template <typename Build> static Value forContraction(Operation *op, Build build) {
  if (auto gemm = dyn_cast<GemmOp>(op))
    return build(gemm);
  return build(cast<DotOp>(op));
}

Value ad::buildTf32Contraction(Operation *op, Steps &steps) {
  return forContraction(op, [&](auto contraction) { return contractTf32(contraction, steps); });
}

Value ad::buildBf16x3Contraction(Operation *op, Steps &steps) {
  return forContraction(op, [&](auto contraction) { return contractBf16(contraction, steps, 2, 1); });
}

Value ad::buildBf16x6Contraction(Operation *op, Steps &steps) {
  return forContraction(op, [&](auto contraction) { return contractBf16(contraction, steps, 3, 2); });
}

Value ad::buildBf16x9Contraction(Operation *op, Steps &steps) {
  return forContraction(op, [&](auto contraction) { return contractBf16(contraction, steps, 3, 4); });
}
