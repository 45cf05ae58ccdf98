// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments and sizes of a kernel.

#include "KernelArguments.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

// A size that is dynamic in the type of one operand may be static in the type of another.
static void refineShapes(linalg::GenericOp generic, DenseMap<Value, Buffer> &buffers) {
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    auto found = buffers.find(operand->get());
    if (found == buffers.end())
      continue;
    for (auto [axis, index] : llvm::enumerate(generic.getMatchingIndexingMap(operand).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(index);
          loop && !ShapedType::isDynamic(ranges[loop.getPosition()]))
        found->second.shape[axis] = ranges[loop.getPosition()];
  }
}

// The order of the arguments: per tensor a pointer and its dynamic sizes, scalars unchanged; then the same
// for each result; then the range of units.
ValueRange KernelArguments::bindTensors() {
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  unsigned next = 0;
  auto buffer = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    Buffer result;
    result.pointer = function.getArgument(next++);
    result.element = tensor.getElementType();
    result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    for (int64_t size : tensor.getShape())
      result.sizes.push_back(ShapedType::isDynamic(size) ? Value(function.getArgument(next++))
                                                         : indexConstant(size));
    return result;
  };
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      buffers[argument] = buffer(argument.getType());
    else
      scalars.map(argument, function.getArgument(next++));
  }
  for (Type type : kernel.getResultTypes())
    results.push_back(buffer(type));
  for (linalg::GenericOp generic : kernel.getBody().getOps<linalg::GenericOp>())
    refineShapes(generic, buffers);
  return function.getArguments().drop_front(next);
}

// Scalars of the body (constants, sizes, index arithmetic) do not depend on the iteration, so they are
// computed first.
LogicalResult KernelArguments::bindScalars() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp, tensor::InsertSliceOp, tensor::ExtractSliceOp,
            tensor::CastOp>(op))
      continue;
    if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      std::optional<int64_t> axis = dim.getConstantIndex();
      if (!axis)
        return dim.emitOpError("asks for a size along an axis that is not a constant");
      int64_t rank = cast<RankedTensorType>(dim.getSource().getType()).getRank();
      if (*axis < 0 || *axis >= rank)
        return dim.emitOpError("asks for dimension ") << *axis << " of rank " << rank;
      scalars.map(dim.getResult(), sizeOf(dim.getSource(), *axis));
      continue;
    }
    if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
      Position position;
      for (Value index : read.getIndices())
        position.push_back({scalars.lookupOrNull(index), 0, nullptr});
      FailureOr<Value> value = values.evaluateOne(read.getTensor(), position);
      if (failed(value))
        return failure();
      scalars.map(read.getResult(), *value);
      continue;
    }
    if (llvm::any_of(op.getOperandTypes(), [](Type type) { return isa<RankedTensorType>(type); }) ||
        op.getNumRegions() != 0)
      return op.emitOpError("is not linalg on tensors; the CPU emitter cannot make code of it");
    builder.clone(op, scalars);
  }
  return success();
}

Value KernelArguments::sizeOf(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return indexConstant(type.getDimSize(axis));
  if (auto it = buffers.find(tensor); it != buffers.end())
    return it->second.sizes[axis];
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return scalars.lookup(empty.getDynamicSize(axis));
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return sizeOf(fill.getOutputs()[0], axis);
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return sizeOf(generic.getDpsInits()[cast<OpResult>(tensor).getResultNumber()], axis);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return sizeOf(insert.getDest(), axis);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return scalars.lookup(cast<Value>(slice.getMixedSizes()[axis]));
  return sizeOf(cast<tensor::CastOp>(op).getSource(), axis);
}
