// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rule of the product over axes: the product of all other elements, without a division, so that
// zeros, overflow and second derivatives come out right.

#include "Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===- Static size: products of all elements before and after each, by doubling -===//

// Moves the elements of the last axis back by `distance` (towards the front when `forward` is false); ones
// come in.
static Value shifted(Rule &rule, Value value, int64_t distance, bool forward) {
  int64_t rank = typeOf(value).getRank(), size = typeOf(value).getDimSize(rank - 1);
  distance = std::min(distance, size);
  SmallVector<int64_t> none(rank, 0), ones(rank, 1), offsets(none), low(none), high(none);
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape.back() = size - distance;
  (forward ? low : high).back() = distance;
  if (!forward)
    offsets.back() = distance;
  Value part = SliceOp::create(rule.builder, rule.loc, typeOf(value).clone(shape), value, offsets, ones,
                               dynamicSizes(rule.builder, rule.loc, value), PermissionsAttr());
  return PadOp::create(rule.builder, rule.loc, part, rule.number(value, 1.0), low, high, none,
                       PermissionsAttr());
}

// Element i is the product of all elements before i (after i when `forward` is false).
static Value productOfSide(Rule &rule, Value x, bool forward) {
  int64_t size = typeOf(x).getShape().back();
  Value product = shifted(rule, x, 1, forward);
  for (int64_t distance = 1; distance < size; distance *= 2)
    product = rule.mul(product, shifted(rule, product, distance, forward));
  return product;
}

//===- Dynamic size: a product over all pairs with the diagonal replaced by one -===//

static Value productOfPairs(Rule &rule, Value x) {
  OpBuilder &builder = rule.builder;
  int64_t rank = typeOf(x).getRank();
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < rank; ++axis)
    sizes.push_back(sizeOf(builder, rule.loc, x, axis));
  SmallVector<int64_t> rowShape(typeOf(x).getShape()), pairShape(rowShape);
  rowShape.insert(rowShape.end() - 1, 1);
  pairShape.push_back(pairShape.back());

  SmallVector<Value> rowSizes = dynamicSizes(builder, rule.loc, x), pairSizes = rowSizes;
  pairSizes.push_back(rowSizes.back());
  Value row = ReshapeOp::create(builder, rule.loc, typeOf(x).clone(rowShape), x, rowSizes, PermissionsAttr());
  auto numbers = RankedTensorType::get(pairShape, builder.getI64Type());
  Value of = IotaOp::create(builder, rule.loc, numbers, pairSizes, static_cast<uint64_t>(rank - 1),
                            PermissionsAttr());
  Value with =
      IotaOp::create(builder, rule.loc, numbers, pairSizes, static_cast<uint64_t>(rank), PermissionsAttr());
  Value itself = rule.compare(ComparePredicate::eq, of, with);
  Value others = rule.select(itself, rule.number(x, 1.0), row);
  return ReduceProdOp::create(builder, rule.loc, others, ArrayRef<int64_t>(rank));
}

LogicalResult ad::productRule(ReduceProdOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  CollapsedAxes axes(rule, op.getInput(), op.getAxes());
  Value x = rule.widen(axes.collapse());
  Value g = rule.widen(axes.reducedLikeKept(rule.cotangent, x));
  bool isDynamic = ShapedType::isDynamic(typeOf(x).getShape().back());
  Value others = isDynamic ? productOfPairs(rule, x)
                           : rule.mul(productOfSide(rule, x, true), productOfSide(rule, x, false));
  rule.give(0, axes.expand(rule.mul(others, g)));
  return success();
}
