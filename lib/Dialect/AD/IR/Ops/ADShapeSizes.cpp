// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Run-time sizes of the operations that move data.

#include "../ShapeUtils.h"

using namespace mlir;
using namespace mlir::ad;

// Sizes that the operation states: the result's static ones and its index operands.
template <typename Op>
static LogicalResult reifyWrittenSizes(Op op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(mixedSizes(builder, op.getType(), op.getSizes()));
  return success();
}

// Sizes of the operand `input`, which the operation keeps.
template <typename Op>
static LogicalResult reifySameSizes(Op op, OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, op.getType().getRank()));
  shapes.push_back(normalizeSizes(builder, op.getLoc(), op.getType(),
                                  selectSizes(builder, op.getLoc(), op.getInput(), all)));
  return success();
}

LogicalResult ReshapeOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyWrittenSizes(*this, builder, shapes);
}

LogicalResult BroadcastOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyWrittenSizes(*this, builder, shapes);
}

LogicalResult SumToShapeOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyWrittenSizes(*this, builder, shapes);
}

LogicalResult SliceOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyWrittenSizes(*this, builder, shapes);
}

LogicalResult DynamicSliceOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyWrittenSizes(*this, builder, shapes);
}

LogicalResult DynamicUpdateSliceOp::reifyResultShapes(OpBuilder &builder,
                                                      ReifiedRankedShapedTypeDims &shapes) {
  return reifySameSizes(*this, builder, shapes);
}

LogicalResult ReverseOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  return reifySameSizes(*this, builder, shapes);
}

LogicalResult TransposeOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(normalizeSizes(builder, getLoc(), getType(),
                                  selectSizes(builder, getLoc(), getInput(), getPermutation())));
  return success();
}

// low + high + size + max(size - 1, 0) * interior
static OpFoldResult reifyPaddedSize(PadOp op, OpBuilder &builder, int64_t axis) {
  Location loc = op.getLoc();
  OpFoldResult size = sizeOf(builder, loc, op.getInput(), axis), sum = size;
  if (int64_t interior = op.getInterior()[axis]) {
    OpFoldResult gaps = addSizes(builder, loc, size, builder.getIndexAttr(-1));
    Value none = arith::ConstantIndexOp::create(builder, loc, 0);
    gaps =
        builder.createOrFold<arith::MaxSIOp>(loc, getValueOrCreateConstantIndexOp(builder, loc, gaps), none);
    sum = addSizes(builder, loc, sum, mulSizes(builder, loc, gaps, builder.getIndexAttr(interior)));
  }
  return addSizes(builder, loc, sum, builder.getIndexAttr(op.getLow()[axis] + op.getHigh()[axis]));
}

LogicalResult PadOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, size] : llvm::enumerate(getType().getShape())) {
    bool known = !ShapedType::isDynamic(size);
    sizes.push_back(known ? OpFoldResult(builder.getIndexAttr(size)) : reifyPaddedSize(*this, builder, axis));
  }
  shapes.push_back(normalizeSizes(builder, getLoc(), getType(), sizes));
  return success();
}

LogicalResult ConcatOp::reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
  int64_t axis = getAxis();
  SmallVector<OpFoldResult> sizes;
  for (auto [dimension, known] : llvm::enumerate(getType().getShape())) {
    if (!ShapedType::isDynamic(known)) {
      sizes.push_back(builder.getIndexAttr(known));
      continue;
    }
    OpFoldResult size = sizeOf(builder, getLoc(), getInputs().front(), dimension);
    if (static_cast<int64_t>(dimension) == axis)
      for (Value next : llvm::drop_begin(getInputs()))
        size = addSizes(builder, getLoc(), size, sizeOf(builder, getLoc(), next, axis));
    sizes.push_back(size);
  }
  shapes.push_back(normalizeSizes(builder, getLoc(), getType(), sizes));
  return success();
}
