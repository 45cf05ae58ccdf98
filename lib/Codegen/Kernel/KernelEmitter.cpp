// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments and sizes of a kernel.

#include "KernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

KernelEmitter::KernelEmitter(KernelOp kernel, FunctionOpInterface function, int64_t vectorLanes)
    : kernel(kernel), function(function), builder(function.getContext()), loc(kernel.getLoc()),
      vectorLanes(vectorLanes) {}

LogicalResult KernelEmitter::emit() {
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  evaluator.caches.emplace_back();
  return failure(failed(bindArguments()) || failed(bindScalars()) || failed(emitRoots()));
}

// A size that the type of one operand leaves open is known when another operand has it.
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

// Arguments of the function: per tensor a pointer and its dynamic sizes, scalars as they are; then the same
// for each result; then the range.
LogicalResult KernelEmitter::bindArguments() {
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
  bindRange(function.getArguments().drop_front(next));
  return success();
}

LogicalResult KernelEmitter::bindSizes() {
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  evaluator.caches.emplace_back();
  return failure(failed(bindArguments()) || failed(bindScalars()));
}

// Scalars of the body (constants, sizes, index arithmetic) do not depend on the iteration: they come first.
LogicalResult KernelEmitter::bindScalars() {
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
      IRMapping none;
      FailureOr<Value> value = evaluator.extract(read, none, {});
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

Value KernelEmitter::sizeOf(Value tensor, int64_t axis) {
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

LogicalResult KernelEmitter::emitLoop(Value lower, Value upper, Value step,
                                      function_ref<LogicalResult(Value)> body) {
  std::optional<int64_t> from = constantOf(lower), to = constantOf(upper), by = constantOf(step);
  if (from && to && *from >= *to)
    return success();
  if (from && to && by && *from + *by >= *to)
    return body(lower);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  return body(loop.getInductionVar());
}

Value KernelEmitter::indexConstant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getFunctionBody().front());
    known = arith::ConstantIndexOp::create(builder, loc, value);
  }
  return known;
}

FailureOr<SmallVector<Value>> KernelEmitter::wholeChain(linalg::GenericOp generic,
                                                        ArrayRef<SmallVector<Index>> loops,
                                                        ArrayRef<Value> start, ArrayRef<Position>) {
  return reductions.chain(generic, loops, start, indexConstant(0), reductions.reducedTotal(generic));
}

FailureOr<SmallVector<Value>> KernelEmitter::orderedTree(linalg::GenericOp generic,
                                                         ArrayRef<Value> identities,
                                                         ArrayRef<Position> positions, BlockCode block,
                                                         int64_t blocksTogether) {
  return reductions.pairwiseTree(reductions.reducedTotal(generic),
                                 blocksTogether * kernel.getOrderAttr().getLength(), identities,
                                 combiningOp(generic), block);
}

void KernelEmitter::storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) {
  for (auto [position, value] : llvm::zip_equal(positions, values))
    store(destination, position, value);
}

Position KernelEmitter::positionOf(OpOperand *input, ArrayRef<Index> loops) {
  return evaluator.apply(cast<linalg::GenericOp>(input->getOwner()).getMatchingIndexingMap(input), loops);
}
