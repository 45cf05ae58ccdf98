// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Linalg of data movement: a computed index where dynamic sizes decide which element is read, and
// tensor.insert_slice where a part of the result is written.

#include "../ADToLinalg.h"

using namespace mlir;
using namespace mlir::ad;

// result[i] = input[index(i)] with indices that are computed for each element.
static Value gatherByIndex(OpBuilder &builder, Operation *op, Value input,
                           function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> index) {
  Location loc = op->getLoc();
  Value init = emptyLike(builder, loc, op->getResult(0));
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  return elementwiseGeneric(builder, loc, {}, init, [&](OpBuilder &nested, ValueRange) -> Value {
    SmallVector<Value> position;
    for (int64_t i = 0; i < rank; ++i)
      position.push_back(linalg::IndexOp::create(nested, loc, i));
    return tensor::ExtractOp::create(nested, loc, input, index(nested, position));
  });
}

// 0 where the axis of `tensor` has size 1 at run time, else `position`.
static Value broadcastIndex(OpBuilder &builder, Location loc, Value size, Value position) {
  Value one = indexConstant(builder, loc, 1), zero = indexConstant(builder, loc, 0);
  Value repeats = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, size, one);
  return arith::SelectOp::create(builder, loc, repeats, zero, position);
}

// Whether the types say that there are no elements. Upstream's slices refuse offset 0 in an axis of size 0.
static bool isEmpty(Value tensor) {
  return llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(), 0);
}

// The tensor under a type that does not show which axes are empty.
static Value withDynamicSizes(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getRank(), ShapedType::kDynamic);
  return isEmpty(tensor) ? tensor::CastOp::create(builder, loc, type.clone(shape), tensor) : tensor;
}

namespace {
struct BroadcastLowering : LoweringModel<BroadcastLowering, BroadcastOp> {
  static Value lower(BroadcastOp op, OpBuilder &builder) {
    Value input = op.getInput();
    int64_t rank = op.getInput().getType().getRank(), leading = op.getType().getRank() - rank;
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < rank; ++i)
      sizes.push_back(dimension(builder, op.getLoc(), input, i));
    return gatherByIndex(builder, op, input, [&](OpBuilder &nested, ValueRange position) {
      SmallVector<Value> index;
      for (int64_t i = 0; i < rank; ++i)
        index.push_back(broadcastIndex(nested, op.getLoc(), sizes[i], position[leading + i]));
      return index;
    });
  }
};

// A reshape that could not be dissolved, since its operand is computed in the same fusion: the row-major
// number of an element is the same on both sides.
struct ReshapeLowering : LoweringModel<ReshapeLowering, ReshapeOp> {
  static Value lower(ReshapeOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    auto sizesOf = [&](Value tensor) {
      SmallVector<Value> sizes;
      for (int64_t i = 0; i < cast<RankedTensorType>(tensor.getType()).getRank(); ++i)
        sizes.push_back(dimension(builder, loc, tensor, i));
      return sizes;
    };
    SmallVector<Value> from = sizesOf(op.getInput());
    SmallVector<Value> to = sizesOf(emptyLike(builder, loc, op->getResult(0)));
    auto index = [&](OpBuilder &nested, ValueRange position) {
      Value number = indexConstant(nested, loc, 0);
      for (auto [i, size] : llvm::zip_equal(position, to)) {
        number = arith::MulIOp::create(nested, loc, number, size);
        number = arith::AddIOp::create(nested, loc, number, i);
      }
      SmallVector<Value> inside(from.size());
      for (int64_t axis = from.size() - 1; axis >= 0; --axis) {
        inside[axis] = arith::RemUIOp::create(nested, loc, number, from[axis]);
        number = arith::DivUIOp::create(nested, loc, number, from[axis]);
      }
      return inside;
    };
    return gatherByIndex(builder, op, op.getInput(), index);
  }
};

// `dynamic` are the sizes that the type of the result leaves open.
static Value sliceOf(Operation *op, OpBuilder &builder, Value input, ArrayRef<OpFoldResult> offsets,
                     ValueRange dynamic, ArrayRef<OpFoldResult> strides) {
  OpResult result = op->getResult(0);
  if (isEmpty(result))
    return emptyLike(builder, op->getLoc(), result);
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> sizes = getMixedValues(type.getShape(), dynamic, builder);
  input = withDynamicSizes(builder, op->getLoc(), input);
  return tensor::ExtractSliceOp::create(builder, op->getLoc(), type, input, offsets, sizes, strides);
}

struct SliceLowering : LoweringModel<SliceLowering, SliceOp> {
  static Value lower(SliceOp op, OpBuilder &builder) {
    return sliceOf(op, builder, op.getInput(), getAsIndexOpFoldResult(op.getContext(), op.getOffsets()),
                   op.getSizes(), getAsIndexOpFoldResult(op.getContext(), op.getStrides()));
  }
};

struct ReverseLowering : LoweringModel<ReverseLowering, ReverseOp> {
  static Value lower(ReverseOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    Value one = indexConstant(builder, loc, 1);
    SmallVector<Value> last(cast<RankedTensorType>(op.getResult().getType()).getRank());
    for (int64_t axis : op.getAxes())
      last[axis] = arith::SubIOp::create(builder, loc, dimension(builder, loc, op.getInput(), axis), one);
    return gatherByIndex(builder, op, op.getInput(), [&](OpBuilder &nested, ValueRange position) {
      SmallVector<Value> index(position);
      for (int64_t axis : op.getAxes())
        index[axis] = arith::SubIOp::create(nested, loc, last[axis], position[axis]);
      return index;
    });
  }
};

struct DynamicSliceLowering : LoweringModel<DynamicSliceLowering, DynamicSliceOp> {
  static Value lower(DynamicSliceOp op, OpBuilder &builder) {
    SmallVector<OpFoldResult> strides(op.getOffsets().size(), builder.getIndexAttr(1));
    return sliceOf(op, builder, op.getInput(), getAsOpFoldResult(op.getOffsets()), op.getSizes(), strides);
  }
};

struct DynamicUpdateSliceLowering : LoweringModel<DynamicUpdateSliceLowering, DynamicUpdateSliceOp> {
  static Value lower(DynamicUpdateSliceOp op, OpBuilder &builder) {
    if (isEmpty(op.getUpdate()) || isEmpty(op.getInput()))
      return op.getInput();
    SmallVector<OpFoldResult> offsets(op.getOffsets().begin(), op.getOffsets().end());
    auto sizes = tensor::getMixedSizes(builder, op.getLoc(), op.getUpdate());
    SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
    return tensor::InsertSliceOp::create(builder, op.getLoc(), op.getUpdate(), op.getInput(), offsets, sizes,
                                         strides);
  }
};

// The value everywhere, then the input written over its part.
struct PadLowering : LoweringModel<PadLowering, PadOp> {
  static Value lower(PadOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    Value scalar = tensor::ExtractOp::create(builder, loc, op.getValue(), ValueRange());
    Value filled = fillTensor(builder, loc, emptyLike(builder, loc, op->getResult(0)), scalar);
    if (isEmpty(op.getInput()))
      return filled;
    SmallVector<OpFoldResult> offsets, strides;
    for (auto [low, interior] : llvm::zip_equal(op.getLow(), op.getInterior())) {
      offsets.push_back(builder.getIndexAttr(low));
      strides.push_back(builder.getIndexAttr(interior + 1));
    }
    auto sizes = tensor::getMixedSizes(builder, loc, op.getInput());
    return tensor::InsertSliceOp::create(builder, op.getLoc(), op.getInput(), filled, offsets, sizes,
                                         strides);
  }
};

struct ConcatLowering : LoweringModel<ConcatLowering, ConcatOp> {
  static Value lower(ConcatOp op, OpBuilder &builder) {
    Location loc = op.getLoc();
    int64_t axis = op.getAxis();
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Value result = emptyLike(builder, loc, op->getResult(0));
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
    Value offset = indexConstant(builder, loc, 0);
    for (Value input : op.getInputs()) {
      if (isEmpty(input) || isEmpty(op.getResult()))
        continue;
      offsets[axis] = getAsOpFoldResult(offset);
      auto sizes = tensor::getMixedSizes(builder, loc, input);
      result = tensor::InsertSliceOp::create(builder, loc, input, result, offsets, sizes, strides);
      offset = builder.createOrFold<arith::AddIOp>(loc, offset, dimension(builder, loc, input, axis));
    }
    return result;
  }
};
} // namespace

void ad::registerShapeModels(DialectRegistry &registry) {
  registerLoweringModels<BroadcastLowering, ReshapeLowering, SliceLowering, ReverseLowering,
                         DynamicSliceLowering, DynamicUpdateSliceLowering, PadLowering, ConcatLowering>(
      registry);
}
