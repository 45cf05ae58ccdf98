// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels of another compiler: launches, linalg on tensors as it is written, and slices.

#include "Kernels.h"
#include "LinalgLoops.h"
#include "Scalars/IndexExpressions.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

//===- Launches --------------------------------------------------------===//

/// The sizes that the launch states are those of the results.
static int32_t checkSizes(LaunchOp launch, Frame &frame, ArrayRef<Tensor> results) {
  SmallVector<int64_t> sizes = frame.indices(launch.getSizes());
  ArrayRef<int64_t> next = sizes;
  for (auto [number, type] : llvm::enumerate(launch.getResultTypes()))
    for (auto [axis, size] : llvm::enumerate(cast<RankedTensorType>(type).getShape())) {
      if (!ShapedType::isDynamic(size))
        continue;
      int64_t actual = results[number].getDim(static_cast<int64_t>(axis));
      if (next.front() != actual)
        return frame.fail(launch, ADRT_FAIL_RESULT,
                          {static_cast<int64_t>(number), static_cast<int64_t>(axis), actual, next.front()});
      next = next.drop_front();
    }
  return ADRT_OK;
}

// The values inside a kernel are of no interest to an observer: compiled kernels have none.
static int32_t runLaunch(LaunchOp launch, Frame &frame) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
  if (!kernel)
    return frame.refuse(launch, "runs in the reference interpreter before kernels are emitted only");
  llvm::SaveAndRestore<Observer *> hidden(frame.run.observer, nullptr);
  Frame inside(frame.run);
  SmallVector<Tensor> results;
  if (int32_t status = inside.runBlock(kernel.getBody().front(), frame.all(launch.getInputs()), results))
    return status;
  if (int32_t status = checkSizes(launch, frame, results))
    return status;
  for (auto [result, tensor] : llvm::zip_equal(launch.getResults(), results))
    frame.set(result, tensor);
  return ADRT_OK;
}

//===- linalg ----------------------------------------------------------===//

static int32_t runEmpty(tensor::EmptyOp op, Frame &frame) {
  SmallVector<int64_t> shape;
  std::optional<ElementType> element = elementTypeOf(op.getType());
  if (!element)
    return frame.refuse(op, "has elements that the reference interpreter does not know");
  if (int32_t status = frame.shape(op, op.getType(), op.getDynamicSizes(), shape))
    return status;
  return frame.set(op.getResult(), Tensor(*element, shape));
}

static int32_t runFill(linalg::FillOp op, Frame &frame) {
  if (op.getNumResults() != 1)
    return frame.refuse(op, "runs in the reference interpreter on tensors only");
  Tensor filledTensor = filled(frame[op.getInputs()[0]], frame[op.getOutputs()[0]].getShape());
  return frame.set(op.getResult(0), filledTensor);
}

SmallVector<Tensor> mlir::ad::reference::copiesOfOuts(linalg::GenericOp op, Frame &frame) {
  return llvm::map_to_vector(op.getDpsInits(),
                             [&](Value init) { return Tensor::copyOf(frame[init].view()); });
}

/// Iteration by iteration, each from what the ones before have written: parallel operations, and chains.
static int32_t runInOrder(linalg::GenericOp op, Frame &frame, LinalgLoops &loops,
                          MutableArrayRef<Tensor> results) {
  return forEachIndex(loops.getExtents(), [&](ArrayRef<int64_t> index) -> int32_t {
    SmallVector<Tensor> outs(results.size()), yielded;
    for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable()))
      if (int32_t status = loops.read(init, results[number], index, outs[number]))
        return status;
    if (int32_t status = loops.runBody(index, outs, yielded))
      return status;
    for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable()))
      if (int32_t status = loops.write(init, results[number], index, yielded[number]))
        return status;
    return ADRT_OK;
  });
}

static int32_t runGeneric(linalg::GenericOp op, Frame &frame) {
  if (!op.hasPureTensorSemantics())
    return frame.refuse(op, "runs in the reference interpreter on tensors only");
  LinalgLoops loops(op, frame);
  if (int32_t status = loops.bind())
    return status;
  SmallVector<Tensor> results = copiesOfOuts(op, frame);
  bool isJoined = op.getNumReductionLoops() > 0 && joinsPartialResults(op);
  if (int32_t status = isJoined                 ? runJoinedReduction(op, frame, loops, results.front())
                       : runsInNestedChains(op) ? runRunningReduction(op, frame, loops, results)
                                                : runInOrder(op, frame, loops, results))
    return status;
  for (auto [result, tensor] : llvm::zip_equal(op.getResults(), results))
    frame.set(result, tensor);
  return ADRT_OK;
}

// The iteration has set it (LinalgLoops.cpp).
static int32_t runIndex(linalg::IndexOp, Frame &) { return ADRT_OK; }

//===- Slices ----------------------------------------------------------===//

namespace {
/// The elements of a slice: of a source, or of a destination.
struct Slice {
  Shape sizes, strides;
  int64_t offset = 0;
};
} // namespace

static Shape numbersOf(ArrayRef<OpFoldResult> mixed, Frame &frame) {
  return llvm::map_to_vector(mixed, [&](OpFoldResult number) {
    std::optional<int64_t> known = getConstantIntValue(number);
    return known ? *known : frame.index(cast<Value>(number));
  });
}

template <class OpT> static int32_t sliceOf(OpT op, Frame &frame, const Tensor &tensor, Slice &slice) {
  Shape offsets = numbersOf(op.getMixedOffsets(), frame), steps = numbersOf(op.getMixedStrides(), frame);
  slice.sizes = numbersOf(op.getMixedSizes(), frame);
  slice.strides = stridesOf(tensor.getShape());
  for (auto [axis, size] : llvm::enumerate(slice.sizes)) {
    int64_t last = 0, have = tensor.getDim(static_cast<int64_t>(axis));
    if (size < 0)
      return frame.fail(op, ADRT_FAIL_NEGATIVE, {static_cast<int64_t>(axis), size});
    if (size == 0)
      continue;
    if (!isInside(offsets[axis], size, steps[axis], have, last))
      return frame.fail(op, ADRT_FAIL_BOUNDS,
                        {static_cast<int64_t>(axis),
                         offsets[axis] < 0 || offsets[axis] >= have ? offsets[axis] : last, have});
    slice.offset += offsets[axis] * slice.strides[axis];
    slice.strides[axis] *= size > 1 ? steps[axis] : 0; // a step that is not taken may be of any size
  }
  return ADRT_OK;
}

static int32_t runExtractSlice(tensor::ExtractSliceOp op, Frame &frame) {
  Tensor source = frame[op.getSource()];
  Slice slice;
  if (int32_t status = sliceOf(op, frame, source, slice))
    return status;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Shape shape;
  for (auto [axis, size] : llvm::enumerate(slice.sizes))
    if (!dropped.test(axis))
      shape.push_back(size);
  return frame.set(op.getResult(), gather(source, slice.sizes, slice.offset, slice.strides).reshaped(shape));
}

static int32_t runInsertSlice(tensor::InsertSliceOp op, Frame &frame) {
  Tensor source = frame[op.getSource()], result = Tensor::copyOf(frame[op.getDest()].view());
  Slice slice;
  if (int32_t status = sliceOf(op, frame, result, slice))
    return status;
  if (product(slice.sizes) != source.getNumElements())
    return frame.refuse(op, "inserts another number of elements than its source has");
  scatter(result, source.reshaped(slice.sizes), slice.offset, slice.strides);
  return frame.set(op.getResult(), result);
}

bool mlir::ad::reference::isInKernel(Operation *op) {
  return op->getParentOfType<KernelOp>() || op->getParentOfType<FusionOp>();
}

/// For operations that are code of kernels, not of host programs.
template <class OpT> static void addToKernels(Semantics &semantics, int32_t (*function)(OpT, Frame &)) {
  semantics.addGeneric<OpT>([function](Operation *op, Frame &frame) {
    if (!isInKernel(op))
      return frame.refuse(op, "is not an operation that the reference interpreter runs in a host program");
    return function(cast<OpT>(op), frame);
  });
}

void mlir::ad::reference::registerKernels(Semantics &semantics) {
  semantics.add(runLaunch);
  addToKernels(semantics, runEmpty);
  addToKernels(semantics, runFill);
  addToKernels(semantics, runGeneric);
  addToKernels(semantics, runIndex);
  addToKernels(semantics, runExtractSlice);
  addToKernels(semantics, runInsertSlice);
}
