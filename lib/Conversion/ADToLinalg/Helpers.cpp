// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Helpers that build linalg operations.

#include "ADToLinalg.h"

using namespace mlir;
using namespace mlir::ad;

Value ad::emptyLike(OpBuilder &builder, Location loc, OpResult result) {
  return emptyLike(builder, loc, result, getElementTypeOrSelf(result));
}

Value ad::emptyLike(OpBuilder &builder, Location loc, OpResult result, Type element) {
  auto type = cast<RankedTensorType>(result.getType());
  ReifiedRankedShapedTypeDims shapes;
  SmallVector<OpFoldResult> sizes;
  if (!type.hasStaticShape() && succeeded(reifyResultShapes(builder, result.getOwner(), shapes)))
    sizes = shapes[result.getResultNumber()];
  SmallVector<Value> dynamic;
  for (int64_t i = 0; i < type.getRank() && !sizes.empty(); ++i)
    if (type.isDynamicDim(i))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, sizes[i]));
  return tensor::EmptyOp::create(builder, loc, type.getShape(), element, dynamic);
}

Value ad::elementwiseGeneric(OpBuilder &builder, Location loc, ValueRange inputs, Value init,
                             function_ref<Value(OpBuilder &, ValueRange)> body) {
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, maps, iterators,
                                           [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
                                             linalg::YieldOp::create(nested, nestedLoc,
                                                                     body(nested, scalars.drop_back()));
                                           });
  return generic.getResult(0);
}

Value ad::fillTensor(OpBuilder &builder, Location loc, Value init, Value scalar) {
  return linalg::FillOp::create(builder, loc, scalar, init).getResult(0);
}
