// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of reductions, without those of products (Products.cpp).

#include "Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===- Sum and mean -===//

Value ad::withReducedAxes(Rule &rule, Value reduced, Value input, ArrayRef<int64_t> axes) {
  if (typeOf(reduced).getRank() == typeOf(input).getRank())
    return reduced;
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (int64_t axis = 0, next = 0; axis < typeOf(input).getRank(); ++axis) {
    if (llvm::is_contained(axes, axis)) {
      shape.push_back(1);
      continue;
    }
    shape.push_back(typeOf(reduced).getDimSize(next));
    // A size that the type leaves open may be a number all the same.
    if (typeOf(reduced).isDynamicDim(next))
      sizes.push_back(getValueOrCreateConstantIndexOp(rule.builder, rule.loc,
                                                      sizeOf(rule.builder, rule.loc, reduced, next)));
    ++next;
  }
  return ReshapeOp::create(rule.builder, rule.loc, typeOf(reduced).clone(shape), reduced, sizes,
                           PermissionsAttr());
}

static LogicalResult sumRule(ReduceSumOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value g = withReducedAxes(rule, rule.cotangent, op.getInput(), op.getAxes());
  g = rule.cast(g, getElementTypeOrSelf(op.getInput().getType()));
  rule.give(0, broadcastLike(rule.builder, rule.loc, g, op.getInput()));
  return success();
}

// The number of reduced elements as a rank-0 tensor.
static Value reducedCount(Rule &rule, Value input, ArrayRef<int64_t> axes, Type element) {
  OpBuilder &builder = rule.builder;
  double known = 1.0;
  Value unknown;
  for (int64_t axis : axes) {
    OpFoldResult size = sizeOf(builder, rule.loc, input, axis);
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      known *= static_cast<double>(*constant);
    else if (unknown)
      unknown = arith::MulIOp::create(builder, rule.loc, unknown, cast<Value>(size));
    else
      unknown = cast<Value>(size);
  }
  Value count = scalarConstant(builder, rule.loc, element, known);
  if (!unknown)
    return count;
  unknown = arith::IndexCastOp::create(builder, rule.loc, builder.getI64Type(), unknown);
  Value scalar = FullOp::create(builder, rule.loc, RankedTensorType::get({}, builder.getI64Type()), unknown,
                                ValueRange(), PermissionsAttr());
  return rule.mul(rule.cast(scalar, element), count);
}

static LogicalResult meanRule(ReduceMeanOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value g = rule.widen(withReducedAxes(rule, rule.cotangent, op.getInput(), op.getAxes()));
  g = rule.div(g, reducedCount(rule, op.getInput(), op.getAxes(), getElementTypeOrSelf(g.getType())));
  g = rule.cast(g, getElementTypeOrSelf(op.getInput().getType()));
  rule.give(0, broadcastLike(rule.builder, rule.loc, g, op.getInput()));
  return success();
}

//===- Several axes as one -===//

CollapsedAxes::CollapsedAxes(Rule &rule, Value input, ArrayRef<int64_t> reduced) : rule(rule), input(input) {
  SmallVector<int64_t> axes(reduced);
  llvm::sort(axes);
  for (int64_t axis = 0; axis < typeOf(input).getRank(); ++axis)
    if (!llvm::is_contained(axes, axis))
      order.push_back(axis);
  kept = order.size();
  order.append(axes);
}

Value CollapsedAxes::transposed() {
  if (llvm::is_sorted(order))
    return input;
  return TransposeOp::create(rule.builder, rule.loc, input, order, PermissionsAttr());
}

Value CollapsedAxes::collapse() {
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  OpBuilder &builder = rule.builder;
  ordered = transposed();
  if (static_cast<int64_t>(order.size()) == kept + 1)
    return ordered;
  int64_t known = 1;
  Value unknown;
  for (auto [position, axis] : llvm::enumerate(order)) {
    OpFoldResult size = sizeOf(builder, rule.loc, input, axis);
    std::optional<int64_t> constant = getConstantIntValue(size);
    if (static_cast<int64_t>(position) < kept) {
      shape.push_back(typeOf(input).getDimSize(axis));
      if (typeOf(input).isDynamicDim(axis))
        sizes.push_back(getValueOrCreateConstantIndexOp(builder, rule.loc, size));
    } else if (constant && !typeOf(input).isDynamicDim(axis)) {
      known *= *constant;
    } else {
      Value factor = getValueOrCreateConstantIndexOp(builder, rule.loc, size);
      unknown = unknown ? arith::MulIOp::create(builder, rule.loc, unknown, factor).getResult() : factor;
    }
  }
  shape.push_back(unknown ? ShapedType::kDynamic : known);
  if (unknown && known != 1)
    unknown = arith::MulIOp::create(builder, rule.loc, unknown,
                                    arith::ConstantIndexOp::create(builder, rule.loc, known));
  if (unknown)
    sizes.push_back(unknown);
  return ReshapeOp::create(builder, rule.loc, typeOf(input).clone(shape), ordered, sizes, PermissionsAttr());
}

Value CollapsedAxes::expand(Value collapsed) {
  Value value = reshapeLike(rule.builder, rule.loc, collapsed, ordered);
  if (llvm::is_sorted(order))
    return value;
  SmallVector<int64_t> inverse(order.size());
  for (auto [position, axis] : llvm::enumerate(order))
    inverse[axis] = position;
  return TransposeOp::create(rule.builder, rule.loc, value, inverse, PermissionsAttr());
}

Value CollapsedAxes::reducedLikeKept(Value reduced, Value collapsed) {
  SmallVector<int64_t> shape(typeOf(collapsed).getShape());
  shape.back() = 1;
  SmallVector<Value> sizes = dynamicSizes(rule.builder, rule.loc, collapsed);
  if (typeOf(collapsed).isDynamicDim(kept))
    sizes.pop_back();
  Type type = typeOf(reduced).clone(shape);
  if (type == reduced.getType() && typeOf(reduced).hasStaticShape())
    return reduced;
  return ReshapeOp::create(rule.builder, rule.loc, type, reduced, sizes, PermissionsAttr());
}

//===- Maximum and minimum: the whole cotangent to the first extremum -===//

// One more element after the last, which is never the first extremum but where there is no other: an axis of
// dynamic size may be empty, and argmax needs an element.
static Value withLastResort(Rule &rule, Value x, bool isMaximum) {
  RankedTensorType type = typeOf(x);
  int64_t last = type.getRank() - 1;
  if (!type.isDynamicDim(last))
    return x;
  const llvm::fltSemantics &semantics = cast<FloatType>(type.getElementType()).getFloatSemantics();
  APFloat worst = APFloat::semanticsHasInf(semantics)
                      ? APFloat::getInf(semantics, /*Negative=*/isMaximum)
                      : APFloat::getLargest(semantics, /*Negative=*/isMaximum);
  Value value = scalarConstant(rule.builder, rule.loc, type.getElementType(), worst.convertToDouble());
  SmallVector<int64_t> none(type.getRank(), 0), high(none);
  high[last] = 1;
  return PadOp::create(rule.builder, rule.loc, x, value, none, high, none, PermissionsAttr());
}

template <typename OpT, typename ArgOpT> static LogicalResult extremumRule(OpT op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  // An operand without elements has a cotangent without elements.
  if (llvm::is_contained(typeOf(op.getInput()).getShape(), 0)) {
    rule.give(0, zerosLike(rule.builder, rule.loc, op.getInput()));
    return success();
  }
  CollapsedAxes axes(rule, op.getInput(), op.getAxes());
  Value x = axes.collapse();
  int64_t last = typeOf(x).getRank() - 1;
  Value candidates = withLastResort(rule, x, std::is_same_v<ArgOpT, ArgmaxOp>);
  Value first =
      ArgOpT::create(rule.builder, rule.loc, candidates, static_cast<uint64_t>(last), PermissionsAttr());
  Value numbers =
      IotaOp::create(rule.builder, rule.loc, typeOf(x).clone(rule.builder.getI64Type()),
                     dynamicSizes(rule.builder, rule.loc, x), static_cast<uint64_t>(last), PermissionsAttr());
  Value chosen = rule.compare(ComparePredicate::eq, numbers, axes.reducedLikeKept(first, x));
  Value g = axes.reducedLikeKept(rule.cotangent, x);
  rule.give(0, axes.expand(rule.onlyWhere(chosen, g)));
  return success();
}

void ad::attachReductionRules(MLIRContext *context) {
  attachRule<ReduceSumOp, sumRule>(context);
  attachRule<ReduceMeanOp, meanRule>(context);
  attachRule<ReduceMaxOp, extremumRule<ReduceMaxOp, ArgmaxOp>>(context);
  attachRule<ReduceMinOp, extremumRule<ReduceMinOp, ArgminOp>>(context);
  attachRule<ReduceProdOp, productRule>(context);
  attachZeroRules<ArgmaxOp, ArgminOp>(context);
}
