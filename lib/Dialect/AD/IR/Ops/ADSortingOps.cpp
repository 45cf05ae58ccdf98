// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that order elements: constraints and type inference. A label such as sort_c3 is C3 of ad.sort in
// docs/spec/sorting.md.

#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "../ShapeUtils.h"
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"

using namespace mlir;
using namespace mlir::ad;

static SmallVector<int64_t> otherAxes(Value tensor, int64_t axis) {
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(tensor.getType()).getRank()));
  axes.erase(axes.begin() + axis);
  return axes;
}

Value ad::gatherAlong(OpBuilder &builder, Location loc, Value input, Value positions, int64_t axis) {
  SmallVector<int64_t> batch = otherAxes(input, axis);
  return GatherOp::create(builder, loc, input, positions, ArrayRef<int64_t>{axis}, batch, batch,
                          ArrayRef<int64_t>(), Outside::clamp, APFloat(0.0), PermissionsAttr());
}

static Value scatterAlong(OpBuilder &builder, Location loc, ScatterKind kind, Value tensor, Value positions,
                          Value update, int64_t axis) {
  SmallVector<int64_t> batch = otherAxes(tensor, axis);
  return ScatterOp::create(builder, loc, kind, tensor, positions, update, ArrayRef<int64_t>{axis}, batch,
                           batch, ArrayRef<int64_t>(), Outside::drop, PermissionsAttr());
}

Value ad::setAlong(OpBuilder &builder, Location loc, Value tensor, Value positions, Value update,
                   int64_t axis) {
  return scatterAlong(builder, loc, ScatterKind::set, tensor, positions, update, axis);
}

Value ad::addAlong(OpBuilder &builder, Location loc, Value tensor, Value positions, Value update,
                   int64_t axis) {
  return scatterAlong(builder, loc, ScatterKind::add, tensor, positions, update, axis);
}

static SmallVector<OpFoldResult> sizesOfFirst(OpBuilder &builder, Operation *op) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(op->getOperand(0).getType()).getRank(); ++axis)
    sizes.push_back(sizeOf(builder, op->getLoc(), op->getOperand(0), axis));
  return sizes;
}

//===- argsort -===//

LogicalResult ArgsortOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!type)
    return error() << "expected a ranked tensor";
  if (failed(verifyAxis(adaptor.getAxis(), type.getRank(), error))) // argsort_c1
    return failure();
  types.push_back(type.clone(IntegerType::get(context, 64)));
  return success();
}

LogicalResult ArgsortOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(sizesOfFirst(builder, *this));
  return success();
}

//===- sort -===//

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  if (adaptor.getInputs().empty()) // sort_c1
    return error() << "expected at least one operand";
  auto key = dyn_cast<RankedTensorType>(adaptor.getInputs().front().getType());
  if (!key)
    return error() << "expected ranked tensors";
  if (failed(verifyAxis(adaptor.getAxis(), key.getRank(), error))) // sort_c2
    return failure();
  for (Type type : TypeRange(adaptor.getInputs())) {
    auto other = dyn_cast<RankedTensorType>(type);
    if (!other || failed(verifyCompatibleShape(key, other))) // sort_c3
      return error() << "expected operands of one shape, but got " << key << " and " << type;
    types.push_back(other);
  }
  if (key.getElementType().isInteger(1)) // sort_c4
    return error() << "expected a key of numbers, but got " << key;
  return success();
}

LogicalResult SortOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizesOfFirst(builder, *this);
  for (Type type : getResultTypes())
    shapes.push_back(normalizeSizes(builder, getLoc(), cast<RankedTensorType>(type), sizes));
  return success();
}

//===- top_k -===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto error = [&] { return inferenceError(location, getOperationName()); };
  auto type = dyn_cast<RankedTensorType>(adaptor.getInput().getType());
  if (!type)
    return error() << "expected a ranked tensor";
  int64_t axis = adaptor.getAxis(), k = adaptor.getK();
  if (failed(verifyAxis(axis, type.getRank(), error))) // top_k_c1
    return failure();
  if (k < 0) // top_k_c2
    return error() << "expected k to be at least 0, but got " << k;
  if (!type.isDynamicDim(axis) && k > type.getDimSize(axis)) // top_k_c2
    return error() << "expected k to be at most the size of axis " << axis << " of " << type << ", but got "
                   << k;
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = k;
  types.push_back(type.clone(shape));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

LogicalResult TopKOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizesOfFirst(builder, *this);
  sizes[getAxis()] = builder.getIndexAttr(getK());
  shapes.assign(2, sizes);
  return success();
}

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADSortingOps.cpp.inc"
