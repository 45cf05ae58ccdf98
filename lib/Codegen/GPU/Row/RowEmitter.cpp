// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

RowEmitter::RowEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Rows &rows,
                       const BlockLimits &limits)
    : GPUKernelEmitter(kernel, function), rows(rows), terms(*this, distribution, registers, cluster, limits),
      cache(*this, distribution, limits.sharedBytes) {}

// A thread has as many registers as with two blocks of the default size, or with three.
int64_t RowEmitter::minBlocksPerSM() const {
  int64_t threads = terms.needsFewRegisters() ? 3 * kBlockThreads : 2 * kBlockThreads;
  return std::max<int64_t>(1, threads / launchShape.threadsPerBlock);
}

// Not of 16-bit rows in shared memory, until that is measured (decision 0052).
bool RowEmitter::groupsFunctions() const {
  bool isStaged = launchShape.dynamicSharedBytes > 0 && !terms.isAllocated();
  return !isStaged || llvm::none_of(KernelOp(kernel).getArgumentTypes(), [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16;
  });
}

// A thread block computes a row that is the sum of several chunks, so that several groups have work.
LogicalResult RowEmitter::emitOutputs() {
  if (work == Work::partial)
    return emitPartialNodes();
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  const Buffer &space = results[rows.space];
  int64_t axes = static_cast<int64_t>(space.shape.size()) - (rows.ofElements ? 0 : 1);
  bool &byBlock = distribution.byBlock;
  byBlock = usesBlockPerRow(kernel, rows);
  RowTiling tiling = distribution.chooseTiling(outputs);
  std::optional<RowTiling> ofBlock = tiling.inRegisters ? std::nullopt : terms.chooseTiling(outputs);
  if (ofBlock) {
    tiling = *ofBlock;
    byBlock = true;
  } else if (!tiling.inRegisters && cache.chooseTensors()) {
    tiling = distribution.tilingFor(std::min(tiling.vector, cache.vectorLength()));
    tiling.inShared = byBlock = true;
  }
  launchShape = {byBlock ? MappingLevel::block : MappingLevel::thread, rows.space, axes};
  launchShape.threadsPerElement = byBlock ? 1 : tiling.threads;
  if (byBlock && !tiling.inShared && !tiling.inBlock())
    launchShape.threadsPerBlock = distribution.threadsOfBlock(tiling.threads);
  if (tiling.inShared)
    cache.allocate();
  if (tiling.inBlock())
    terms.allocate(tiling);
  if (byBlock)
    chunkSums.allocate();
  bool always = tiling.vector == 1 && !tiling.inShared;
  Value allowed = always ? Value() : distribution.allowsVectors(tiling);
  return emitIfAllowed(
      allowed, [&] { return emitRowLoop(outputs, tiling); },
      [&] { return emitRowLoop(outputs, distribution.tilingFor(1)); });
}

void RowEmitter::bind(const RowTiling &tiling) {
  distribution.bind(tiling);
  registers.bind();
}

LogicalResult RowEmitter::emitRowLoop(ValueRange outputs, const RowTiling &tiling) {
  bind(tiling);
  Nest space = kernelOutputs.nestOver(results[rows.space], {});
  SmallVector<Value> sizes(ArrayRef(space.sizes).take_front(launchShape.axes));
  auto emitOne = [&](Value number) {
    Position &row = distribution.row;
    row = mapping.positionOfElement(number, sizes);
    if (tiling.inShared)
      cache.loadRow();
    return rows.ofElements ? kernelOutputs.storeOutputs(outputs, results, ArrayRef<Position>(row))
                           : rowLoops.emitRow(outputs, space, row, !rows.sumsAlong);
  };
  Value count = mapping.elementCount(sizes);
  if (tiling.clusterBlocks > 1)
    return cluster.emitLoop(count, emitOne);
  if (distribution.byBlock)
    return emitLoop(mapping.block, count, mapping.gridBlocks, emitOne);
  return distribution.emitLoopOverGroups(count, emitOne);
}

LogicalResult RowEmitter::emitPartialNodes() {
  RowTiling tiling = distribution.chooseTiling(kernel.getBody().front().getTerminator()->getOperands());
  tiling = distribution.tilingFor(tiling.vector);
  launchShape.threadsPerElement = tiling.threads;
  auto emitWith = [&](const RowTiling &chosen) -> LogicalResult {
    bind(chosen);
    return partialTree.emitNodes();
  };
  Value allowed = tiling.vector == 1 ? Value() : distribution.allowsVectors(tiling);
  return emitIfAllowed(
      allowed, [&] { return emitWith(tiling); }, [&] { return emitWith(distribution.tilingFor(1)); });
}

void RowEmitter::synchronizeRowThreads() {
  if (distribution.tiling.clusterBlocks > 1)
    return cluster.synchronize();
  distribution.byBlock ? mapping.synchronizeBlock() : mapping.synchronizeWarp();
}

LogicalResult RowEmitter::emitAlongRow(Value length, StoreAt storeAt) {
  OpBuilder::InsertionGuard guard(builder);
  if (distribution.active) {
    auto branch = scf::IfOp::create(builder, loc, distribution.active);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  Scope scope(*this);
  if (distribution.tiling.inRegisters || distribution.tiling.inBlock())
    return registers.emitStores(storeAt);
  auto [first, step] = distribution.stridedRange();
  return emitLoop(first, length, step, [&](Value index) {
    return storeAt(vectorized.consecutiveIndices(index, distribution.tiling.vector));
  });
}

FailureOr<Value> RowEmitter::compute(Value tensor, const Position &position) {
  if (Value staged = cache.lookup(tensor, position))
    return staged;
  return GPUKernelEmitter::compute(tensor, position);
}

FailureOr<Value> RowEmitter::laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                       Value lower, Value upper, int64_t lanes) {
  if (mapping.perThread)
    return GPUKernelEmitter::laneChunk(generic, loops, identity, lower, upper, lanes);
  return chains.laneChunk(generic, loops, identity, lower, upper);
}

// Barriers need all threads of the block: the operands of the sum are computed before groups diverge.
FailureOr<Value> RowEmitter::reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                         const Position &position) {
  if (!distribution.byBlock || mapping.perThread)
    return GPUKernelEmitter::reduceLanes(generic, loops, identity, position);
  const RowTiling &tiling = distribution.tiling;
  if (failed(hoisting.hoistReduced(generic, loops)))
    return failure();
  if (tiling.inBlock() && TermExchange::isFreeOfOrder(generic))
    return terms.reduceInAnyOrder(generic, loops, identity);
  if ((tiling.inShared && failed(cache.fillFor(generic))) ||
      (tiling.inBlock() && failed(terms.storeTerms(generic, loops))))
    return failure();
  return chunkSums.reduce(generic, loops, identity);
}
