// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "StepBuilder.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

SmallVector<OpFoldResult> StepBuilder::sizesOf(Value x) {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()),
                             [&](int64_t axis) { return sizeByType(builder, loc, x, axis); });
}

std::pair<RankedTensorType, SmallVector<Value>> StepBuilder::shaped(Type element,
                                                                    ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> open;
  dispatchIndexOpFoldResults(sizes, open, shape);
  return {RankedTensorType::get(shape, element), open};
}

Value StepBuilder::reshaped(Value x, ArrayRef<OpFoldResult> sizes) {
  auto [type, open] = shaped(typeOf(x).getElementType(), sizes);
  return type == x.getType() ? x
                             : ReshapeOp::create(builder, loc, type, x, open, PermissionsAttr()).getResult();
}

Value StepBuilder::repeated(Value x, ArrayRef<OpFoldResult> sizes) {
  auto [type, open] = shaped(typeOf(x).getElementType(), sizes);
  return BroadcastOp::create(builder, loc, type, x, open, PermissionsAttr());
}

Value StepBuilder::numbers(Type element, ArrayRef<OpFoldResult> sizes, int64_t axis) {
  auto [type, open] = shaped(element, sizes);
  return IotaOp::create(builder, loc, type, open, static_cast<uint64_t>(axis), PermissionsAttr());
}
