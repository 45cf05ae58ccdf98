// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The steps of a reduction over several axes, one axis at a time. Reduced axes stay as 1 in between, so that
// the rule for canonical orders sees which axis was the innermost one.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_REDUCTIONSTEPS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_REDUCTIONSTEPS_H

#include "adjoint/Dialect/AD/IR/ADBuilders.h"

namespace mlir::ad {
// The order of one step of several: lanes belong to the innermost axis, every other axis is summed in blocks.
inline OrderAttr orderOfStep(OrderAttr written, int64_t axis, int64_t rank) {
  if (!written || !written.hasLanes() || axis == rank - 1)
    return written;
  return OrderAttr::canonicalBlocks(written.getContext());
}

// Reduces one axis to 1, in this order.
template <typename ReduceOp>
Value reduceAxis(OpBuilder &builder, Location loc, Value input, int64_t axis, Type element, OrderAttr order) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  return ReduceOp::create(builder, loc, RankedTensorType::get(shape, element), input, ArrayRef<int64_t>{axis},
                          /*keepDims=*/true, order, PermissionsAttr());
}

// `value`, whose additional dimensions are all 1, as `type` with its dynamic sizes: first the shape, then the
// element type.
inline Value toType(OpBuilder &builder, Location loc, Value value, RankedTensorType type,
                    function_ref<SmallVector<Value>()> getSizes) {
  auto own = cast<RankedTensorType>(value.getType());
  if (own.getShape() != type.getShape()) {
    SmallVector<Value> sizes = getSizes();
    value =
        ReshapeOp::create(builder, loc, type.clone(own.getElementType()), value, sizes, PermissionsAttr());
  }
  return castTo(builder, loc, value, type.getElementType());
}
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DECOMPOSE_REDUCTIONSTEPS_H
