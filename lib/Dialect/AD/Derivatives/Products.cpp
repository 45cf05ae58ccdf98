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

//===- Dynamic size: blocks of static size, and the same for the products of the blocks -===//

// Each level leaves one of kBlock elements. After kLevels, the square of the number of blocks is less than
// the number of elements of any tensor that fits into memory.
static constexpr int64_t kBlock = 16, kLevels = 3;

// Element i of the axis is a product over all of its elements, with i replaced by one: work in proportion to
// the square of its size.
static Value productOfPairs(Rule &rule, Value x, int64_t axis) {
  OpBuilder &builder = rule.builder;
  RankedTensorType type = typeOf(x);
  SmallVector<int64_t> rowShape(type.getShape()), pairShape(rowShape);
  rowShape.insert(rowShape.begin() + axis, 1);
  pairShape.insert(pairShape.begin() + axis, type.getDimSize(axis));

  SmallVector<Value> rowSizes = dynamicSizes(builder, rule.loc, x), pairSizes = rowSizes;
  if (type.isDynamicDim(axis)) {
    auto *size = pairSizes.begin() + type.getDynamicDimIndex(axis);
    pairSizes.insert(size, Value(*size));
  }
  Value row = reshapeTo(builder, rule.loc, x, type.clone(rowShape), rowSizes);
  auto numbers = RankedTensorType::get(pairShape, builder.getI64Type());
  auto numbersAlong = [&](uint64_t along) -> Value {
    return IotaOp::create(builder, rule.loc, numbers, pairSizes, along, PermissionsAttr());
  };
  Value itself = rule.compare(ComparePredicate::eq, numbersAlong(axis), numbersAlong(axis + 1));
  Value others = rule.select(itself, rule.number(x, 1.0), row);
  return ReduceProdOp::create(builder, rule.loc, others, ArrayRef<int64_t>(axis + 1));
}

// The elements from the start of the last axis on, `size` of them.
static Value firstOf(Rule &rule, Value x, Value size) {
  SmallVector<int64_t> offsets(typeOf(x).getRank(), 0), strides(typeOf(x).getRank(), 1);
  SmallVector<Value> sizes = dynamicSizes(rule.builder, rule.loc, x);
  sizes.back() = size;
  return SliceOp::create(rule.builder, rule.loc, typeOf(x), x, offsets, strides, sizes, PermissionsAttr());
}

static Value productOfBlocks(Rule &rule, Value x, int64_t levels) {
  if (levels == 0)
    return productOfPairs(rule, x, typeOf(x).getRank() - 1);
  OpBuilder &builder = rule.builder;
  int64_t axis = typeOf(x).getRank() - 1;
  SmallVector<Value> sizes = dynamicSizes(builder, rule.loc, x), blockSizes(sizes), paddedSizes(sizes);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, rule.loc, value);
  };
  // Ones fill the last block. The blocks are columns of kBlock rows, so that vectors run over the blocks.
  SmallVector<int64_t> none(axis + 1, 0), high(none);
  high[axis] = kBlock - 1;
  Value padded =
      PadOp::create(builder, rule.loc, x, rule.number(x, 1.0), none, high, none, PermissionsAttr());
  Value most = arith::AddIOp::create(builder, rule.loc, sizes.back(), number(kBlock - 1));
  blockSizes.back() = arith::DivUIOp::create(builder, rule.loc, most, number(kBlock));
  paddedSizes.back() = arith::MulIOp::create(builder, rule.loc, blockSizes.back(), number(kBlock));
  SmallVector<int64_t> shape(typeOf(x).getShape()), oneShape(shape);
  shape.insert(shape.begin() + axis, kBlock);
  oneShape.insert(oneShape.begin() + axis, 1);
  Value blocks = reshapeTo(builder, rule.loc, firstOf(rule, padded, paddedSizes.back()),
                           typeOf(x).clone(shape), blockSizes);

  Value products = ReduceProdOp::create(builder, rule.loc, blocks, ArrayRef<int64_t>(axis));
  Value otherBlocks = reshapeTo(builder, rule.loc, productOfBlocks(rule, products, levels - 1),
                                typeOf(x).clone(oneShape), blockSizes);
  Value others = rule.mul(productOfPairs(rule, blocks, axis), otherBlocks);
  return firstOf(rule, reshapeTo(builder, rule.loc, others, typeOf(x), paddedSizes), sizes.back());
}

LogicalResult ad::productRule(ReduceProdOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  CollapsedAxes axes(rule, op.getInput(), op.getAxes());
  Value x = rule.widen(axes.collapse());
  Value g = rule.widen(axes.reducedLikeKept(rule.cotangent, x));
  bool isDynamic = ShapedType::isDynamic(typeOf(x).getShape().back());
  Value others = isDynamic ? productOfBlocks(rule, x, kLevels)
                           : rule.mul(productOfSide(rule, x, true), productOfSide(rule, x, false));
  rule.give(0, axes.expand(rule.mul(others, g)));
  return success();
}
