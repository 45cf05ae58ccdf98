// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Short helpers that build `ad` operations.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ad;

// `value` as an element: floats round to nearest even and saturate in 8 bits, integers truncate and wrap.
static TypedAttr elementAttr(Type element, double value) {
  auto floatType = dyn_cast<FloatType>(element);
  if (!floatType)
    return IntegerAttr::get(element, APInt(64, static_cast<int64_t>(std::trunc(value)), /*isSigned=*/true)
                                         .sextOrTrunc(element.getIntOrFloatBitWidth()));
  const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
  APFloat converted(value);
  bool losesInfo = false;
  converted.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (std::isfinite(value) && !converted.isFinite() && floatType.getWidth() == 8)
    converted = APFloat::getLargest(semantics, std::signbit(value));
  return FloatAttr::get(floatType, converted);
}

Value ad::scalarConstant(OpBuilder &builder, Location loc, Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(builder, loc,
                            DenseElementsAttr::get(type, ArrayRef<Attribute>(elementAttr(element, value))));
}

Value ad::integerConstant(OpBuilder &builder, Location loc, Type element, int64_t value) {
  Attribute number = builder.getIntegerAttr(element, value);
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<Attribute>(number)));
}

// The type with another element type; a scalar becomes `element` itself.
static Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

static Value constantLike(OpBuilder &builder, Location loc, Type type, double value) {
  TypedAttr scalar = elementAttr(getElementTypeOrSelf(type), value);
  auto vector = dyn_cast<VectorType>(type);
  return arith::ConstantOp::create(
      builder, loc, vector ? TypedAttr(DenseElementsAttr::get(vector, ArrayRef<Attribute>(scalar))) : scalar);
}

Value ad::fullLike(OpBuilder &builder, Location loc, Value like, double value, Type element) {
  Type given = element ? withElement(like.getType(), element) : like.getType();
  auto type = dyn_cast<RankedTensorType>(given);
  if (!type)
    return constantLike(builder, loc, given, value);
  TypedAttr scalar = elementAttr(type.getElementType(), value);
  if (type.hasStaticShape())
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<Attribute>(scalar)));
  Value filling = arith::ConstantOp::create(builder, loc, scalar);
  return FullOp::create(builder, loc, type, filling, dynamicSizes(builder, loc, like), nullptr);
}

// `value` keeps its element type and gets the shape of `like`.
static RankedTensorType typeShapedLike(Value value, Value like) {
  return RankedTensorType::get(cast<RankedTensorType>(like.getType()).getShape(),
                               getElementTypeOrSelf(value.getType()));
}

Value ad::broadcastLike(OpBuilder &builder, Location loc, Value value, Value like) {
  RankedTensorType type = typeShapedLike(value, like);
  if (type == value.getType() && haveSameShape(value, like))
    return value;
  return BroadcastOp::create(builder, loc, type, value, dynamicSizes(builder, loc, like), nullptr);
}

Value ad::sumToShapeOf(OpBuilder &builder, Location loc, Value value, Value like) {
  RankedTensorType type = typeShapedLike(value, like);
  if (type == value.getType() && haveSameShape(value, like))
    return value;
  return SumToShapeOp::create(builder, loc, type, value, dynamicSizes(builder, loc, like), nullptr, nullptr);
}

Value ad::reshapeLike(OpBuilder &builder, Location loc, Value value, Value like) {
  RankedTensorType type = typeShapedLike(value, like);
  if (type == value.getType() && haveSameShape(value, like))
    return value;
  return ReshapeOp::create(builder, loc, type, value, dynamicSizes(builder, loc, like), nullptr);
}

Value ad::reshapeTo(OpBuilder &builder, Location loc, Value value, Type type, ValueRange sizes) {
  return ReshapeOp::create(builder, loc, type, value, sizes, PermissionsAttr());
}

Value ad::castTo(OpBuilder &builder, Location loc, Value value, Type element) {
  Type type = withElement(value.getType(), element);
  if (type == value.getType())
    return value;
  if (isa<RankedTensorType>(type))
    return CastOp::create(builder, loc, type, value, nullptr);
  return ConvertOp::create(builder, loc, type, value);
}

void ad::keepInstruction(Operation *from, Operation *to) {
  if (Attribute instruction = from->getAttr(kInstructionAttr))
    to->setAttr(kInstructionAttr, instruction);
}
