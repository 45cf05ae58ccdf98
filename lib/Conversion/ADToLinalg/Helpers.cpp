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

Value ad::roundTo(OpBuilder &builder, OpResult result, Value tensor) {
  Type element = getElementTypeOrSelf(result);
  if (getElementTypeOrSelf(tensor) == element)
    return tensor;
  Location loc = result.getLoc();
  return elementwiseGeneric(
      builder, loc, tensor, emptyLike(builder, loc, result),
      [&](OpBuilder &nested, ValueRange scalars) { return convertScalar(nested, loc, scalars[0], element); });
}

Value ad::extremum(OpBuilder &builder, Location loc, Type type, bool smallest) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        builder, loc, FloatAttr::get(floatType, APFloat::getInf(floatType.getFloatSemantics(), smallest)));
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = smallest ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

Type ad::combiningType(Combiner combiner, Type element) {
  bool selects = combiner == Combiner::maximum || combiner == Combiner::minimum;
  return selects ? computeType(element) : accumulatorType(element);
}

Value ad::identityOf(OpBuilder &builder, Location loc, Combiner combiner, Type type) {
  switch (combiner) {
  case Combiner::sum:
    return numberConstant(builder, loc, type, 0);
  case Combiner::product:
    return numberConstant(builder, loc, type, 1);
  case Combiner::maximum:
    return extremum(builder, loc, type, /*smallest=*/true);
  case Combiner::minimum:
    return extremum(builder, loc, type, /*smallest=*/false);
  }
  return {};
}

Value ad::combineScalars(OpBuilder &builder, Location loc, Combiner combiner, Value acc, Value value) {
  ScalarCode code{builder, loc};
  switch (combiner) {
  case Combiner::sum:
    return code.make<arith::AddFOp, arith::AddIOp>({acc, value});
  case Combiner::product:
    return code.make<arith::MulFOp, arith::MulIOp>({acc, value});
  case Combiner::maximum:
    return code.make<arith::MaximumFOp, arith::MaxSIOp>({acc, value});
  case Combiner::minimum:
    return code.make<arith::MinimumFOp, arith::MinSIOp>({acc, value});
  }
  return {};
}

Value ad::indexConstant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value ad::dimension(OpBuilder &builder, Location loc, Value tensor, int64_t axis) {
  return builder.createOrFold<tensor::DimOp>(loc, tensor, axis);
}
