// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that move data. Each is a strided read or a strided write after the run-time tests of its sizes.

#include "Interpreter.h"
#include "Movement.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Written.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int32_t runReshape(ReshapeOp op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  Shape shape;
  if (int32_t status = frame.shape(op, typeOf(op.getResult()), op.getSizes(), shape))
    return status;
  if (product(shape) != input.getNumElements())
    return frame.fail(op, ADRT_FAIL_RESHAPE, {input.getNumElements(), product(shape)});
  return frame.set(op.getResult(), input.reshaped(shape));
}

static int32_t runBroadcast(BroadcastOp op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  Shape shape;
  if (int32_t status = frame.shape(op, typeOf(op.getResult()), op.getSizes(), shape))
    return status;
  int64_t leading = static_cast<int64_t>(shape.size()) - input.getRank();
  for (auto [axis, size] : llvm::enumerate(input.getShape())) {
    int64_t dimension = leading + static_cast<int64_t>(axis), wanted = shape[dimension];
    if (size == 1 || size == wanted)
      continue;
    // In the order of the operands: a later one does not fit those before it.
    bool later = writtenOperand(op).value_or(0) > 0;
    return frame.fail(op, ADRT_FAIL_BROADCAST, {dimension, later ? wanted : size, later ? size : wanted});
  }
  return frame.set(op.getResult(), broadcastTo(input, shape));
}

static int32_t runTranspose(TransposeOp op, Frame &frame) {
  return frame.set(op.getResult(), transpose(frame[op.getInput()], op.getPermutation()));
}

/// Fails when a part of the given sizes, starting at the offsets, leaves the tensor. Sizes are those of
/// tensors that exist; offsets are any numbers.
static int32_t checkPart(Operation *op, Frame &frame, ArrayRef<int64_t> whole, ArrayRef<int64_t> part,
                         ArrayRef<int64_t> offsets, ArrayRef<int64_t> strides) {
  for (auto [axis, size, count, offset, stride] : llvm::enumerate(whole, part, offsets, strides)) {
    int64_t last = 0, dimension = static_cast<int64_t>(axis);
    bool large = llvm::MulOverflow(count - 1, stride, last) || llvm::AddOverflow(last, offset, last);
    last = large ? std::numeric_limits<int64_t>::max() : last;
    if (offset < 0 || last >= size)
      return frame.fail(op, ADRT_FAIL_BOUNDS, {dimension, offset < 0 ? offset : last, size});
  }
  return ADRT_OK;
}

static int32_t readPart(Operation *op, Frame &frame, const Tensor &input, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> offsets, ArrayRef<int64_t> strides) {
  Shape own = stridesOf(input.getShape());
  int64_t offset = 0;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    offset += offsets[axis] * own[axis];
    own[axis] *= strides[axis];
  }
  return frame.set(op->getResult(0), gather(input, shape, offset, own));
}

/// Along an axis of which nothing is read or written a part may start anywhere, also where the product of the
/// offset with a stride has no number.
static void startInside(Shape &offsets, ArrayRef<int64_t> part) {
  for (auto [offset, size] : llvm::zip_equal(offsets, part))
    offset = size == 0 ? 0 : offset;
}

static int32_t runSlice(SliceOp op, Frame &frame) {
  Shape shape;
  if (int32_t status = frame.shape(op, typeOf(op.getResult()), op.getSizes(), shape))
    return status;
  Shape offsets(op.getOffsets()), strides(op.getStrides());
  startInside(offsets, shape);
  for (auto [stride, size] : llvm::zip_equal(strides, shape))
    stride = size <= 1 ? 1 : stride; // a single element needs none
  const Tensor &input = frame[op.getInput()];
  if (int32_t status = checkPart(op, frame, input.getShape(), shape, offsets, strides))
    return status;
  return readPart(op, frame, input, shape, offsets, strides);
}

static int32_t runDynamicSlice(DynamicSliceOp op, Frame &frame) {
  Shape shape;
  if (int32_t status = frame.shape(op, typeOf(op.getResult()), op.getSizes(), shape))
    return status;
  Shape offsets = frame.indices(op.getOffsets()), ones(shape.size(), 1);
  startInside(offsets, shape);
  const Tensor &input = frame[op.getInput()];
  if (int32_t status = checkPart(op, frame, input.getShape(), shape, offsets, ones))
    return status;
  return readPart(op, frame, input, shape, offsets, ones);
}

/// A copy that may be written to.
static Tensor writable(const Tensor &input) {
  Tensor copy(input.getType(), input.getShape());
  std::copy_n(input.bytes(), input.getNumBytes(), copy.bytes()); // an empty tensor has no bytes
  return copy;
}

static int32_t runDynamicUpdateSlice(DynamicUpdateSliceOp op, Frame &frame) {
  Tensor input = frame[op.getInput()], update = frame[op.getUpdate()];
  Shape offsets = frame.indices(op.getOffsets()), ones(offsets.size(), 1);
  startInside(offsets, update.getShape());
  if (int32_t status = checkPart(op, frame, input.getShape(), update.getShape(), offsets, ones))
    return status;
  Tensor result = writable(input);
  Shape strides = stridesOf(input.getShape());
  int64_t offset = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    offset += offsets[axis] * strides[axis];
  scatter(result, update, offset, strides);
  return frame.set(op.getResult(), result);
}

static int32_t runPad(PadOp op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  Shape shape;
  for (auto [axis, size] : llvm::enumerate(input.getShape())) {
    int64_t inner = size == 0 ? 0 : size + (size - 1) * op.getInterior()[axis];
    shape.push_back(op.getLow()[axis] + inner + op.getHigh()[axis]);
  }
  if (int32_t status = frame.checkMemory(op, input.getType(), shape))
    return status;
  // A fresh tensor even where the value already has the shape of the result.
  Tensor result = writable(filled(frame[op.getValue()], shape));
  Shape strides = stridesOf(shape);
  int64_t offset = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    offset += op.getLow()[axis] * strides[axis];
    strides[axis] *= op.getInterior()[axis] + 1;
  }
  scatter(result, input, offset, strides);
  return frame.set(op.getResult(), result);
}

static int32_t runConcat(ConcatOp op, Frame &frame) {
  SmallVector<Tensor> inputs = frame.all(op.getInputs());
  size_t axis = op.getAxis();
  Shape shape(inputs.front().getShape());
  for (const Tensor &input : ArrayRef(inputs).drop_front())
    for (auto [other, size] : llvm::enumerate(input.getShape())) {
      if (other == axis)
        shape[axis] += size;
      else if (size != shape[other])
        return frame.fail(op, ADRT_FAIL_SAME_SIZE, {static_cast<int64_t>(other), shape[other], size});
    }
  if (int32_t status = frame.checkMemory(op, inputs.front().getType(), shape))
    return status;
  Tensor result(inputs.front().getType(), shape);
  Shape strides = stridesOf(shape);
  int64_t position = 0;
  for (const Tensor &input : inputs) {
    scatter(result, input, position * strides[axis], strides);
    position += input.getDim(axis);
  }
  return frame.set(op.getResult(), result);
}

static int32_t runReverse(ReverseOp op, Frame &frame) {
  Tensor input = frame[op.getInput()];
  Shape strides = stridesOf(input.getShape());
  int64_t offset = 0;
  for (int64_t axis : op.getAxes()) {
    offset += (input.getDim(axis) - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return frame.set(op.getResult(), gather(input, input.getShape(), offset, strides));
}

void mlir::ad::reference::registerShape(Semantics &semantics) {
  semantics.add(runReshape);
  semantics.add(runBroadcast);
  semantics.add(runTranspose);
  semantics.add(runSlice);
  semantics.add(runDynamicSlice);
  semantics.add(runDynamicUpdateSlice);
  semantics.add(runPad);
  semantics.add(runConcat);
  semantics.add(runReverse);
}
