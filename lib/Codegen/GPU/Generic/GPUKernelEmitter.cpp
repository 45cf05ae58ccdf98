// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops over the iteration space of a kernel, by threads or warps of the whole grid, and which component
// generates the code of each value.

#include "GPUKernelEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

GPUKernelEmitter::GPUKernelEmitter(KernelOp kernel, FunctionOpInterface function)
    : KernelContext(kernel, function, /*vectorLanes=*/1) {}

LogicalResult GPUKernelEmitter::bindArguments() {
  bindRange(kernelArguments.bindTensors());
  return kernelArguments.bindScalars();
}

LogicalResult GPUKernelEmitter::emit(Work toEmit) {
  work = toEmit;
  return failure(failed(bindArguments()) || failed(emitOutputs()));
}

LogicalResult GPUKernelEmitter::emitDivided(const Division &division, Work part) {
  partialTree.division = division;
  return emit(part);
}

void GPUKernelEmitter::bindRange(ValueRange arguments) {
  if (work != Work::all)
    partialTree.bind(arguments);
  mapping.bind();
}

LogicalResult GPUKernelEmitter::emitOutputs() {
  if (work != Work::all)
    return work == Work::partial ? emitPartialNodes() : partialTree.emitJoin();
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  std::optional<unsigned> space = kernelOutputs.rowSpaceOf(outputs);
  launchShape = {MappingLevel::thread, space.value_or(0),
                 static_cast<int64_t>(results[space.value_or(0)].shape.size())};
  if (!space) {
    for (auto [output, destination] : llvm::zip_equal(outputs, results))
      if (failed(emitOutput(output, destination)))
        return failure();
    return success();
  }
  Nest nest = kernelOutputs.nestOver(results[*space], outputs);
  bool oneShape = llvm::all_of(results, [&](const Buffer &buffer) { return buffer.shape == nest.shape; });
  flat = oneShape &&
         llvm::all_of(outputs, [&](Value output) { return kernelOutputs.isFlat(output, isPointwise); });
  bool sumsLanes = false, sumsLong = false;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>()) {
    int64_t count = reducedElements(generic);
    bool usesLanes = reduces(generic) && reductionLoops.usesLanes(generic);
    sumsLanes |= usesLanes;
    sumsLong |= usesLanes && (ShapedType::isDynamic(count) || count > kMaxShortRow);
  }
  // Elements of a row that share a sum have to be read before the first of them is overwritten.
  bool ownSums = nest.shape.empty() || hoisting.sumsLanesAlong(outputs, nest, nest.shape.size() - 1);
  if (!oneShape || (sumsLanes && (sumsLong || !ownSums)))
    return rowLoops.emitRows(outputs, *space);
  return emitNest(nest, [&](ArrayRef<Position> positions) {
    return kernelOutputs.storeOutputs(outputs, results, positions);
  });
}

// A slice is stored into a tensor that is in memory already. Otherwise one loop computes every element, in
// the slice or around it: stores of several loops, by different threads, would be in no order.
LogicalResult GPUKernelEmitter::emitOutput(Value output, const Buffer &destination) {
  auto insert = output.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || buffers.count(insert.getDest()))
    return inserts.emitRange(output, destination, {});
  return emitNest(kernelOutputs.nestOver(destination, output), [&](ArrayRef<Position> positions) {
    return kernelOutputs.storeOutputs(output, destination, positions);
  });
}

// A grid-stride loop with coalesced accesses: contiguous threads compute contiguous elements.
LogicalResult GPUKernelEmitter::emitNest(const Nest &nest, Store store) {
  PerThread perThread(mapping);
  Scope scope(*this);
  if (failed(hoistInvariants(nest.outputs, nest)))
    return failure();
  return emitLoop(mapping.thread, mapping.elementCount(nest.sizes), mapping.gridThreads, [&](Value number) {
    Position position = flat ? Position{{number, 0, nullptr}} : mapping.positionOfElement(number, nest.sizes);
    return store(position);
  });
}

// Values that are the same at all elements are computed before the loop.
LogicalResult GPUKernelEmitter::hoistInvariants(ValueRange outputs, const Nest &nest) {
  if (flat || nest.sizes.empty())
    return success();
  Position anywhere(nest.sizes.size(), Index::varying());
  Visited visited;
  for (Value output : outputs)
    if (failed(hoisting.hoist(output, anywhere, visited)))
      return failure();
  return success();
}

LogicalResult GPUKernelEmitter::emitAlongRow(Value length, StoreAt storeAt) {
  return emitLoop(mapping.lane, length, indexConstant(kWarpThreads),
                  [&](Value index) { return storeAt(index); });
}

LogicalResult GPUKernelEmitter::emitNodesOverLanes(Value count, function_ref<LogicalResult(Value)> emitNode) {
  launchShape.threadsPerElement = kWarpThreads;
  return emitLoop(mapping.warp, count, mapping.gridWarps, emitNode);
}

//===- Values -------------------------------------------------------------===//

FailureOr<Value> GPUKernelEmitter::compute(Value tensor, const Position &position) {
  FailureOr<Value> value = vectorized.compute(tensor, position);
  if (failed(value) || *value)
    return value;
  Operation *op = tensor.getDefiningOp();
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    return insertAccess.compute(insert, position);
  if (isa_and_nonnull<tensor::EmptyOp>(op)) { // uninitialized, so that any value is right
    Type element = getElementTypeOrSelf(tensor.getType());
    return Value(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element)));
  }
  return evaluator.ValueEvaluator::compute(tensor, position);
}

Value GPUKernelEmitter::isRowLeader() {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, mapping.lane, indexConstant(0));
}

// A value that all threads of a row have computed is stored by one of them, after all have read the element
// that it overwrites.
void GPUKernelEmitter::store(const Buffer &buffer, const Position &position, Value value) {
  if (mapping.perThread)
    return memoryAccess.store(buffer, position, value);
  synchronizeRowThreads();
  (void)emitIf(isRowLeader(), [&] {
    memoryAccess.store(buffer, position, value);
    return success();
  });
}

void GPUKernelEmitter::storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) {
  if (!vectorized.storeAll(destination, positions, values))
    ElementStores::storeAll(destination, positions, values);
}

FailureOr<Value> GPUKernelEmitter::reduceLanes(linalg::GenericOp reduction, SmallVector<Index> loops,
                                               Value identity, const Position &position) {
  return reductions.reduceChunks(reduction, loops, identity, position);
}

FailureOr<SmallVector<Value>> GPUKernelEmitter::Reductions::orderedTree(linalg::GenericOp reduction,
                                                                        ArrayRef<Value> identities,
                                                                        ArrayRef<Position> positions,
                                                                        BlockCode block,
                                                                        int64_t blocksPerLeaf) {
  if (!emitter.partialTree.isDivided(reduction))
    return ReductionEmitter::orderedTree(reduction, identities, positions, block, blocksPerLeaf);
  return emitter.partialTree.orderedTree(reduction, identities, positions.front(), block);
}

FailureOr<SmallVector<Value>> GPUKernelEmitter::Reductions::wholeChain(linalg::GenericOp reduction,
                                                                       ArrayRef<SmallVector<Index>> loops,
                                                                       ArrayRef<Value> start,
                                                                       ArrayRef<Position> positions) {
  if (!emitter.partialTree.isDivided(reduction))
    return ReductionEmitter::wholeChain(reduction, loops, start, positions);
  return emitter.partialTree.wholeChain(reduction, loops.front(), start, positions.front());
}
