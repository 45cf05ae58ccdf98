// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/IR/IndexedAccess.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::ad;

SmallVector<int64_t> IndexedAccess::partAxesOfIndices() const {
  return llvm::filter_to_vector(llvm::seq<int64_t>(0, partRank()),
                                [&](int64_t axis) { return !llvm::is_contained(slices, axis); });
}

SmallVector<int64_t> IndexedAccess::slicedAxes() const {
  return llvm::filter_to_vector(llvm::seq<int64_t>(0, rank), [&](int64_t axis) {
    return !llvm::is_contained(axes, axis) && !llvm::is_contained(batch, axis);
  });
}

SmallVector<unsigned> IndexedAccess::wholeAxes() const {
  SmallVector<unsigned> whole;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      whole.push_back(axis);
  return whole;
}

AffineMap IndexedAccess::tensorMap(MLIRContext *context) const {
  SmallVector<AffineExpr> results(rank);
  for (auto [number, axis] : llvm::enumerate(axes))
    results[axis] = getAffineSymbolExpr(number, context);
  SmallVector<int64_t> ofIndices = partAxesOfIndices();
  for (auto [axis, indexAxis] : llvm::zip_equal(batch, indexBatch))
    results[axis] = getAffineDimExpr(ofIndices[indexAxis], context);
  for (auto [axis, partAxis] : llvm::zip_equal(slicedAxes(), slices))
    results[axis] = getAffineDimExpr(partAxis, context);
  return AffineMap::get(partRank(), axes.size(), results, context);
}

AffineMap IndexedAccess::indexMap(MLIRContext *context) const {
  auto results =
      llvm::map_to_vector(partAxesOfIndices(), [&](int64_t axis) { return getAffineDimExpr(axis, context); });
  return AffineMap::get(partRank(), 0, results, context);
}

// The value cast to the element type, as ad.cast does it.
static TypedAttr paddingOf(Type element, const APFloat &value) {
  uint64_t bits = numerics::fromDouble(*numerics::elementTypeOf(element), value.convertToDouble());
  APInt pattern = APInt(64, bits).trunc(element.getIntOrFloatBitWidth());
  if (auto type = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, APFloat(type.getFloatSemantics(), pattern));
  return IntegerAttr::get(element, pattern);
}

SmallVector<ElementAccess> ad::accessesOfLookup(Operation *op, const IndexedAccess &access, Outside outside,
                                                const APFloat &fill) {
  MLIRContext *context = op->getContext();
  SmallVector<unsigned> indices = llvm::to_vector(llvm::seq<unsigned>(1, op->getNumOperands()));
  OutOfRange mode = outside == Outside::error   ? OutOfRange::error
                    : outside == Outside::clamp ? OutOfRange::clamp
                                                : OutOfRange::value;
  TypedAttr padding;
  if (mode == OutOfRange::value)
    padding = paddingOf(getElementTypeOrSelf(op->getOperand(0).getType()), fill);
  SmallVector<ElementAccess> accesses = {ElementAccess(access.tensorMap(context), indices, mode, padding)};
  accesses.front().wholeAxes = access.wholeAxes();
  accesses.append(indices.size(), access.indexMap(context));
  return accesses;
}

SmallVector<OpFoldResult> ad::sizesOfLookup(Operation *op, const IndexedAccess &access, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<OpFoldResult> sizes(type.getRank());
  auto give = [&](int64_t axis, Value tensor, int64_t from) {
    sizes[axis] = type.isDynamicDim(axis) ? sizeOf(builder, op->getLoc(), tensor, from)
                                          : OpFoldResult(builder.getIndexAttr(type.getDimSize(axis)));
  };
  for (auto [from, axis] : llvm::enumerate(access.partAxesOfIndices()))
    give(axis, op->getOperand(1), from);
  for (auto [from, axis] : llvm::zip_equal(access.slicedAxes(), access.slices))
    give(axis, op->getOperand(0), from);
  return sizes;
}
