// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How threads and warps share a kernel's results.

#include "GenericEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

GenericEmitter::GenericEmitter(KernelOp kernel, FunctionOpInterface function)
    : KernelEmitter(kernel, function, /*vectorLanes=*/1) {}

void GenericEmitter::bindRange(ValueRange arguments) {
  if (work != Work::all) {
    nodeMemory = arguments.front();
    leavesOfNode = arguments.back();
  }
  using ::mlir::gpu::Dimension;
  inBlock = ::mlir::gpu::ThreadIdOp::create(builder, loc, Dimension::x);
  block = ::mlir::gpu::BlockIdOp::create(builder, loc, Dimension::x);
  blockThreads = ::mlir::gpu::BlockDimOp::create(builder, loc, Dimension::x);
  blocks = ::mlir::gpu::GridDimOp::create(builder, loc, Dimension::x);
  Value warpSize = indexConstant(kWarpThreads);
  thread = binary<arith::AddIOp>(binary<arith::MulIOp>(block, blockThreads), inBlock);
  threads = binary<arith::MulIOp>(blocks, blockThreads);
  warp = binary<arith::DivUIOp>(thread, warpSize);
  warps = binary<arith::DivUIOp>(threads, warpSize);
  lane = binary<arith::RemUIOp>(inBlock, warpSize);
}

LogicalResult GenericEmitter::emitRoots() {
  if (work != Work::all)
    return work == Work::partial ? emitNodes() : emitJoin();
  ValueRange roots = kernel.getBody().front().getTerminator()->getOperands();
  std::optional<unsigned> space = outputs.rowSpaceOf(roots);
  launchShape = {MappingLevel::thread, space.value_or(0),
                 static_cast<int64_t>(results[space.value_or(0)].shape.size())};
  if (!space) {
    for (auto [root, destination] : llvm::zip_equal(roots, results))
      if (failed(emitRoot(root, destination)))
        return failure();
    return success();
  }
  Nest nest = outputs.nestOver(results[*space], roots);
  bool oneShape = llvm::all_of(results, [&](const Buffer &buffer) { return buffer.shape == nest.shape; });
  flat = oneShape && llvm::all_of(roots, [&](Value root) { return outputs.isFlat(root, isPointwise); });
  bool sumsLanes = llvm::any_of(roots, [&](Value root) {
    return dependsOn(root, [&](linalg::GenericOp generic) { return reductions.usesLanes(generic); });
  });
  if (!oneShape || sumsLanes)
    return emitRows(roots, *space);
  return emitNest(
      nest, [&](ArrayRef<Position> positions) { return outputs.storeRoots(roots, results, positions); });
}

// Slices go into a tensor that is there already, or every element finds out whether it lies in one: what one
// thread fills another one must not write over.
LogicalResult GenericEmitter::emitRoot(Value root, const Buffer &destination) {
  auto insert = root.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || buffers.count(insert.getDest()))
    return KernelEmitter::emitRoot(root, destination);
  return emitNest(outputs.nestOver(destination, root), [&](ArrayRef<Position> positions) {
    return outputs.storeRoots(root, destination, positions);
  });
}

Value GenericEmitter::elementCount(ValueRange sizes) {
  Value count = indexConstant(1);
  for (Value size : sizes)
    count = binary<arith::MulIOp>(count, size);
  return count;
}

Position GenericEmitter::positionOfElement(Value number, ValueRange sizes) {
  Position position(sizes.size());
  for (int64_t axis = static_cast<int64_t>(sizes.size()) - 1; axis >= 0; --axis) {
    Value index = axis == 0 ? number : binary<arith::RemUIOp>(number, sizes[axis]);
    position[axis] = {index, 0, nullptr};
    if (axis > 0)
      number = binary<arith::DivUIOp>(number, sizes[axis]);
  }
  return position;
}

// Neighbouring threads take neighbouring elements, and all of them as many steps as it takes.
LogicalResult GenericEmitter::emitNest(const Nest &nest, Store store) {
  Spread ofThread(*this);
  Scope scope(*this);
  if (failed(hoistEverywhere(nest.roots, nest)))
    return failure();
  return emitLoop(thread, elementCount(nest.sizes), threads, [&](Value number) {
    Position position = flat ? Position{{number, 0, nullptr}} : positionOfElement(number, nest.sizes);
    return store(position);
  });
}

// What is the same at all elements.
LogicalResult GenericEmitter::hoistEverywhere(ValueRange roots, const Nest &nest) {
  if (flat || nest.sizes.empty())
    return success();
  Position anywhere(nest.sizes.size(), Index::varying());
  Visited visited;
  for (Value root : roots)
    if (failed(hoisting.hoist(root, anywhere, visited)))
      return failure();
  return success();
}

// Nests with sums over lanes. What belongs to a row is computed by its warp, whose threads then go along it;
// where the sums differ along the row too, the warp takes one element after another.
LogicalResult GenericEmitter::emitRows(ValueRange roots, unsigned space) {
  Nest whole = outputs.nestOver(results[space], {});
  for (auto [root, buffer] : llvm::zip_equal(roots, results))
    if (buffer.shape == whole.shape)
      whole.roots.push_back(root);
  int64_t rank = whole.shape.size();
  bool summed = rank == 0 || hoisting.sumsLanesAlong(whole.roots, whole, rank - 1);
  bool hasRows = whole.roots.size() != roots.size();
  launchShape = {MappingLevel::warp, space, summed && !hasRows ? rank : rank - 1};
  if (summed && !hasRows)
    return emitSummedElements(roots, whole);
  SmallVector<Value> sizes(ArrayRef(whole.sizes).drop_back());
  return emitLoop(warp, elementCount(sizes), warps, [&](Value number) {
    return emitRow(roots, whole, positionOfElement(number, sizes), !summed);
  });
}

LogicalResult GenericEmitter::emitSummedElements(ValueRange roots, const Nest &space) {
  return emitLoop(warp, elementCount(space.sizes), warps, [&](Value number) {
    return outputs.storeRoots(roots, results, ArrayRef<Position>(positionOfElement(number, space.sizes)));
  });
}

// All values of the row are read before the first is stored, since a result may lie in the place of an
// operand.
LogicalResult GenericEmitter::emitRow(ValueRange roots, const Nest &space, const Position &row,
                                      bool spreads) {
  Scope scope(*this);
  RowRoots split = outputs.splitByRow(roots, space.shape);
  Position along(row);
  along.push_back(Index::varying());
  Visited hoisted;
  for (Value root : split.whole)
    if (failed(hoisting.hoist(root, along, hoisted)))
      return failure();
  if (failed(outputs.storePerRow(split.perRow, split.perRowBuffers, row)))
    return failure();
  synchronizeTakers();
  auto storeAt = [&](ArrayRef<Value> indices) {
    SmallVector<Position> positions(indices.size(), row);
    for (auto [position, index] : llvm::zip_equal(positions, indices))
      position.push_back({index, 0, nullptr});
    return outputs.storeRoots(split.whole, split.wholeBuffers, positions);
  };
  Value length = space.sizes.back();
  if (!spreads)
    return emitLoop(indexConstant(0), length, indexConstant(1), [&](Value index) { return storeAt(index); });
  Spread ofThread(*this);
  return emitAlong(length, storeAt);
}

LogicalResult GenericEmitter::emitAlong(Value length, StoreAt storeAt) {
  return emitLoop(lane, length, indexConstant(kWarpThreads), [&](Value index) { return storeAt(index); });
}

// The memory operations of a warp before it come before those behind it.
void GenericEmitter::synchronizeWarp() {
  Value all = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), -1);
  NVVM::SyncWarpOp::create(builder, loc, all);
}

void GenericEmitter::synchronizeBlock() { ::mlir::gpu::BarrierOp::create(builder, loc); }

Value GenericEmitter::isFirstTaker() {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, indexConstant(0));
}

// One thread stores what all have computed, when all have read what lies there.
void GenericEmitter::store(const Buffer &buffer, const Position &position, Value value) {
  if (spread)
    return KernelEmitter::store(buffer, position, value);
  synchronizeTakers();
  (void)emitIf(isFirstTaker(), [&] {
    KernelEmitter::store(buffer, position, value);
    return success();
  });
}

LogicalResult GenericEmitter::emitIf(Value condition, function_ref<LogicalResult()> then,
                                     function_ref<LogicalResult()> otherwise) {
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  auto emitInto = [&](Block *block, function_ref<LogicalResult()> code) {
    builder.setInsertionPointToStart(block);
    Scope scope(*this);
    return code();
  };
  if (failed(emitInto(branch.thenBlock(), then)))
    return failure();
  return otherwise ? emitInto(branch.elseBlock(), otherwise) : success();
}
