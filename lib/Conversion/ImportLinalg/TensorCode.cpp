// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TensorCode.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

const char *const ad::kImportedElements =
    "f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i8, i1 or an index";

Type ad::importedElement(Type type) {
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  return type.isIntOrFloat() && numerics::elementTypeOf(type) ? type : Type();
}

bool ad::isImported(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return !isa<ShapedType>(type) && importedElement(type);
  return !tensor.getEncoding() && importedElement(tensor.getElementType());
}

Value TensorCode::ofScalar(Value scalar) {
  Type element = importedElement(scalar.getType());
  if (scalar.getType().isIndex())
    scalar = arith::IndexCastOp::create(builder, loc, element, scalar);
  return full(scalar, RankedTensorType::get({}, element), {});
}

Value TensorCode::ofConstant(TypedAttr constant) {
  Type element = importedElement(constant.getType());
  Attribute value = constant;
  if (constant.getType().isIndex())
    value = builder.getIntegerAttr(element, mlir::cast<IntegerAttr>(constant).getValue().getSExtValue());
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(RankedTensorType::get({}, element), value));
}

Value TensorCode::toScalar(Value tensor, Type type) {
  Value scalar = tensor::ExtractOp::create(builder, loc, tensor, ValueRange());
  return type.isIndex() ? Value(arith::IndexCastOp::create(builder, loc, type, scalar)) : scalar;
}

SmallVector<Value> TensorCode::dynamicAmong(ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (OpFoldResult size : sizes)
    if (!getConstantIntValue(size))
      dynamic.push_back(mlir::cast<Value>(size));
  return dynamic;
}

RankedTensorType ad::typeOfSizes(ArrayRef<OpFoldResult> sizes, Type element) {
  SmallVector<int64_t> shape = llvm::map_to_vector(
      sizes, [](OpFoldResult size) { return getConstantIntValue(size).value_or(ShapedType::kDynamic); });
  return RankedTensorType::get(shape, element);
}

Value TensorCode::reshape(Value x, ArrayRef<OpFoldResult> sizes) {
  RankedTensorType type = typeOfSizes(sizes, elementOf(x));
  while (auto earlier = x.getDefiningOp<ReshapeOp>())
    x = earlier.getInput();
  bool isSame = type == x.getType() && type.getNumDynamicDims() <= 1;
  return isSame ? x : Value(ReshapeOp::create(builder, loc, type, x, dynamicAmong(sizes), nullptr));
}

Value TensorCode::broadcast(Value x, ArrayRef<OpFoldResult> sizes) {
  RankedTensorType type = typeOfSizes(sizes, elementOf(x));
  return type == x.getType()
             ? x
             : Value(BroadcastOp::create(builder, loc, type, x, dynamicAmong(sizes), nullptr));
}

Value TensorCode::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return x;
  return TransposeOp::create(builder, loc, x, permutation, PermissionsAttr());
}

Value TensorCode::iota(ArrayRef<OpFoldResult> sizes, int64_t axis) {
  return IotaOp::create(builder, loc, typeOfSizes(sizes, builder.getI64Type()), dynamicAmong(sizes), axis,
                        nullptr);
}

Value TensorCode::full(Value value, RankedTensorType type, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  for (auto [size, extent] : llvm::zip_equal(sizes, type.getShape()))
    if (ShapedType::isDynamic(extent))
      dynamic.push_back(index(size));
  Attribute constant;
  if (type.hasStaticShape() && matchPattern(value, m_Constant(&constant)))
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, constant));
  return FullOp::create(builder, loc, type, value, dynamic, nullptr);
}

Value TensorCode::withType(Value x, RankedTensorType type) {
  return x.getType() == type ? x : Value(tensor::CastOp::create(builder, loc, type, x));
}

SmallVector<OpFoldResult> TensorCode::sizes(Value tensor) {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, typeOf(tensor).getRank()),
                             [&](int64_t axis) { return sizeByType(builder, loc, tensor, axis); });
}

SmallVector<Value> TensorCode::indices(ArrayRef<OpFoldResult> numbers) {
  return llvm::map_to_vector(numbers, [&](OpFoldResult number) { return index(number); });
}

Value TensorCode::index(OpFoldResult size) { return getValueOrCreateConstantIndexOp(builder, loc, size); }
