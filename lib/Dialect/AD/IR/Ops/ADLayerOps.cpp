// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of layers: constraints, type inference and sizes. A label such as dropout_c1 is C1 of ad.dropout
// in docs/spec/layers.md.

#include "adjoint/Dialect/AD/IR/ADLayerOps.h"
#include "../ShapeUtils.h"

using namespace mlir;
using namespace mlir::ad;

// The sizes of the axes of `source` but for the one.
static SmallVector<OpFoldResult> sizesWithout(OpBuilder &builder, Location loc, Value source, int64_t axis) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t other = 0; other < cast<RankedTensorType>(source.getType()).getRank(); ++other)
    if (other != axis)
      sizes.push_back(sizeOf(builder, loc, source, other));
  return sizes;
}

static SmallVector<OpFoldResult> allSizes(OpBuilder &builder, Location loc, Value source) {
  return sizesWithout(builder, loc, source, -1);
}

static bool isFiniteAndNotNegative(const APFloat &value) {
  return value.isFinite() && (!value.isNegative() || value.isZero());
}

//===- one_hot -===//

LogicalResult OneHotOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  int64_t axis = getAxis();
  if (axis < 0 || axis > from.getRank()) // one_hot_c1
    return emitOpError("expected an axis from 0 to ") << from.getRank() << ", but got " << axis;
  bool isAxis = to.getRank() == from.getRank() + 1;
  SmallVector<int64_t> others(to.getShape());
  if (isAxis)
    others.erase(others.begin() + axis);
  if (!isAxis || ArrayRef<int64_t>(others) != from.getShape()) // one_hot_c1
    return emitOpError("expected a result of shape ")
           << shapeToString(from.getShape()) << " with one more axis " << axis << ", but got "
           << shapeToString(to.getShape());
  if (to.isDynamicDim(axis)) // one_hot_c2
    return emitOpError("expected a static size along axis ") << axis << ", but got " << to;
  return success();
}

LogicalResult OneHotOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = allSizes(builder, getLoc(), getInput());
  sizes.insert(sizes.begin() + getAxis(), builder.getIndexAttr(getType().getDimSize(getAxis())));
  shapes.push_back(normalizeSizes(builder, getLoc(), getType(), sizes));
  return success();
}

//===- logsumexp -===//

LogicalResult LogSumExpOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!type)
    return error() << "expected a ranked tensor";
  if (failed(verifyAxis(adaptor.getAxis(), type.getRank(), error))) // logsumexp_c1
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + adaptor.getAxis());
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult LogSumExpOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(sizesWithout(builder, getLoc(), getInput(), getAxis()));
  return success();
}

//===- rotary_embedding -===//

LogicalResult RotaryEmbeddingOp::verify() {
  ArrayRef<int64_t> shape = getInput().getType().getShape(), positions = getPositions().getType().getShape();
  if (shape.empty() || ShapedType::isDynamic(shape.back()) || shape.back() % 2 != 0) // rotary_embedding_c1
    return emitOpError("expected a static and even size of the last axis, but got ") << getInput().getType();
  ArrayRef<int64_t> leading = shape.drop_back();
  bool broadcasts = positions.size() <= leading.size();
  for (auto [own, size] : llvm::zip(llvm::reverse(positions), llvm::reverse(leading)))
    broadcasts &= own == 1 || maySizesAgree(own, size);
  if (!broadcasts) // rotary_embedding_c2
    return emitOpError("expected positions that broadcast to ")
           << shapeToString(leading) << ", but got " << shapeToString(positions);
  if (!getBase().isFinite() || getBase().isNegative() || getBase().isZero()) // rotary_embedding_c3
    return emitOpError("expected a finite and positive base, but got ") << getBase().convertToDouble();
  return success();
}

LogicalResult RotaryEmbeddingOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(allSizes(builder, getLoc(), getInput()));
  return success();
}

//===- dropout -===//

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!isFiniteAndNotNegative(getRate()) || static_cast<float>(rate) >= 1.0f) // dropout_c1
    return emitOpError("expected a rate of at least 0 and, in f32, below 1, but got ") << rate;
  return success();
}

LogicalResult DropoutOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(allSizes(builder, getLoc(), getInput()));
  return success();
}

//===- Norms of channels -===//

// What the norms of channels share; `batchAxes` are those before the first that may have the channels.
static LogicalResult verifyChannels(RankedTensorType input, int64_t axis, int64_t batchAxes,
                                    EmitError error) {
  if (axis < batchAxes || axis >= input.getRank()) // group_norm_c1, batch_norm_c1, batch_norm_inference_c1
    return error() << "expected an axis of channels from " << batchAxes << " to " << input.getRank() - 1
                   << ", but got " << axis;
  if (input.isDynamicDim(axis)) // group_norm_c2, batch_norm_c2, batch_norm_inference_c2
    return error() << "expected a static number of channels, but got " << input;
  return success();
}

// `what` are parameters or statistics, with the elements of the input or of the accumulator.
static LogicalResult verifyOfChannels(RankedTensorType type, StringRef what, RankedTensorType input,
                                      int64_t axis, bool mayBeWide, EmitError error) {
  Type element = input.getElementType();
  auto expected = RankedTensorType::get({input.getDimSize(axis)}, element);
  bool isWide = mayBeWide && type == expected.clone(accumulatorType(element));
  if (type != expected && !isWide) // group_norm_c3, batch_norm_c3, batch_norm_inference_c3
    return error() << "expected " << what << " of type " << expected << ", but got " << type;
  return success();
}

static LogicalResult verifyEpsilon(const APFloat &epsilon, EmitError error) {
  if (!isFiniteAndNotNegative(epsilon)) // group_norm_c4, batch_norm_c4, batch_norm_inference_c4
    return error() << "expected a finite epsilon of at least 0, but got " << epsilon.convertToDouble();
  return success();
}

LogicalResult GroupNormOp::verify() {
  auto error = [&] { return emitOpError(); };
  RankedTensorType input = getInput().getType();
  int64_t axis = getAxis(), groups = getGroups();
  if (failed(verifyChannels(input, axis, /*batchAxes=*/1, error)))
    return failure();
  if (groups < 1) // group_norm_c2
    return error() << "expected at least one group, but got " << groups;
  if (input.getDimSize(axis) % groups != 0) // group_norm_c2
    return error() << "expected a multiple of " << groups << " groups as the number of channels, but got "
                   << input.getDimSize(axis);
  if (failed(verifyOfChannels(getScale().getType(), "parameters", input, axis, /*mayBeWide=*/false, error)))
    return failure();
  return verifyEpsilon(getEpsilon(), error);
}

LogicalResult GroupNormOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(allSizes(builder, getLoc(), getInput()));
  return success();
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  auto input = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  auto scale = dyn_cast<RankedTensorType>(adaptor.getScale().getType());
  if (!input || !scale)
    return error() << "expected ranked tensors";
  int64_t axis = adaptor.getAxis();
  if (failed(verifyChannels(input, axis, /*batchAxes=*/0, error)) ||
      failed(verifyOfChannels(scale, "parameters", input, axis, /*mayBeWide=*/false, error)) ||
      failed(verifyEpsilon(adaptor.getEpsilon(), error)))
    return failure();
  types.push_back(input);
  types.append(2, scale.clone(accumulatorType(scale.getElementType())));
  return success();
}

LogicalResult BatchNormOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(allSizes(builder, getLoc(), getInput()));
  for (Value statistic : {getMean(), getVariance()})
    shapes.push_back({builder.getIndexAttr(cast<RankedTensorType>(statistic.getType()).getDimSize(0))});
  return success();
}

bool BatchNormOp::keepsResultType(unsigned number) { return number != 0; }

LogicalResult BatchNormInferenceOp::verify() {
  auto error = [&] { return emitOpError(); };
  RankedTensorType input = getInput().getType();
  int64_t axis = getAxis();
  if (failed(verifyChannels(input, axis, /*batchAxes=*/0, error)) ||
      failed(verifyOfChannels(getScale().getType(), "parameters", input, axis, /*mayBeWide=*/false, error)) ||
      failed(verifyOfChannels(getMean().getType(), "statistics", input, axis, /*mayBeWide=*/true, error)))
    return failure();
  return verifyEpsilon(getEpsilon(), error);
}

LogicalResult BatchNormInferenceOp::reifyResultShapes(OpBuilder &builder,
                                                      ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(allSizes(builder, getLoc(), getInput()));
  return success();
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADLayerOps.cpp.inc"
