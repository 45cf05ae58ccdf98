// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "PartialTree.h"
#include "../Generic/GPUKernelEmitter.h"
#include "JoinedParts.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Nodes that one thread joins in straight-line code, so that their loads overlap.
static constexpr int64_t kNodesPerThread = 8;
// Of the nodes of a reduction, like that of every buffer (docs/architecture.md, Host program).
static constexpr int64_t kScratchAlignment = 64;

void PartialTree::bind(ValueRange arguments) {
  nodeMemory = arguments.front();
  leavesOfNode = arguments.back();
}

// Of missing leaves of the last node, and of nodes after the last.
SmallVector<Value> PartialTree::paddingNodes(linalg::GenericOp reduction, ArrayRef<Value> identities) {
  return absentParts(emitter, reduction, identities);
}

SmallVector<Value> PartialTree::joinParts(linalg::GenericOp reduction, ValueRange left, ValueRange right) {
  return device::joinParts(emitter, reduction, left, right);
}

Value PartialTree::layOutNodes(Value memory, Value leaves) {
  Value bytes = indexConstant(0), alignment = indexConstant(kScratchAlignment);
  for (linalg::GenericOp reduction : division.reductions) {
    Nodes own;
    own.length = binary<arith::MulIOp>(leaves, indexConstant(leafLength(kernel, reduction, division)));
    own.total = reductionLoops.total(reduction);
    own.count = binary<arith::MaxUIOp>(binary<arith::CeilDivUIOp>(own.total, own.length), indexConstant(1));
    for (OpResult result : reduction->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      Buffer buffer{nullptr, type.getElementType(), {ShapedType::kDynamic}, {own.count}};
      Value elements = own.count;
      for (auto [axis, size] : llvm::enumerate(type.getShape())) {
        buffer.shape.push_back(size);
        buffer.sizes.push_back(sizeOf(result, axis));
        elements = binary<arith::MulIOp>(elements, buffer.sizes.back());
      }
      if (memory) {
        Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
        buffer.pointer = LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(), memory,
                                             ValueRange{offset});
      }
      Value size = binary<arith::MulIOp>(elements, indexConstant(memoryBytes(buffer.element)));
      size = binary<arith::MulIOp>(binary<arith::CeilDivUIOp>(size, alignment), alignment);
      bytes = binary<arith::AddIOp>(bytes, size);
      own.buffers.push_back(std::move(buffer));
    }
    nodes[reduction] = std::move(own);
  }
  return bytes;
}

//===- Nodes --------------------------------------------------------------===//

LogicalResult PartialTree::emitNodes() {
  layOutNodes();
  for (linalg::GenericOp reduction : division.reductions) {
    ArrayRef<Value> sizes = nodes[reduction].buffers.front().sizes;
    Value count = mapping.elementCount(sizes);
    auto emitOne = [&](Value number) { return emitNode(reduction, number, sizes); };
    if (reductionLoops.usesLanes(reduction)) {
      if (failed(emitter.emitNodesOverLanes(count, emitOne)))
        return failure();
      continue;
    }
    ThreadMapping::PerThread perThread(mapping);
    if (failed(emitLoop(mapping.thread, count, mapping.gridThreads, emitOne)))
      return failure();
  }
  return success();
}

LogicalResult PartialTree::emitNode(linalg::GenericOp reduction, Value number, ValueRange sizes) {
  Scope scope(context);
  Nodes &own = nodes[reduction];
  Position position = mapping.positionOfElement(number, sizes);
  own.number = position.front().base;
  Position inResult(ArrayRef<Index>(position).drop_front());
  FailureOr<SmallVector<Value>> values = reductions.reduceAll(reduction, 0, ArrayRef<Position>(inResult));
  if (failed(values))
    return failure();
  for (auto [buffer, value] : llvm::zip_equal(own.buffers, *values))
    emitter.store(buffer, position, value);
  return success();
}

// All threads of a warp execute the same number of leaves, since shuffles need every thread.
FailureOr<SmallVector<Value>> PartialTree::orderedTree(linalg::GenericOp reduction,
                                                       ArrayRef<Value> identities, const Position &position,
                                                       BlockCode block) {
  if (emitter.work == KernelContext::Work::merge)
    return joinNodes(reduction, identities, position);
  const Nodes own = nodes[reduction];
  int64_t length = leafLength(kernel, reduction, division);
  Value from = binary<arith::MulIOp>(own.number, own.length), some = indexConstant(1);
  SmallVector<Value> padding = paddingNodes(reduction, identities);
  AffineMap map = reduction.getMatchingIndexingMap(reduction.getDpsInitOperand(0));
  SmallVector<Index> loops = maps.loopsFromOutput(reduction, map, position);
  auto leaf = [&](Value lower, Value) -> FailureOr<SmallVector<Value>> {
    Value begin = binary<arith::AddIOp>(from, lower);
    Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, begin,
                                            binary<arith::MaxUIOp>(own.total, some));
    begin = binary<arith::MinUIOp>(begin, own.total);
    Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(begin, indexConstant(length)), own.total);
    auto values = reductionLoops.usesLanes(reduction)
                      ? block(begin, end)
                      : emitter.chains.unrolled(reduction, loops, identities, begin, end, length);
    if (failed(values))
      return failure();
    return SmallVector<Value>{
        arith::SelectOp::create(builder, loc, isPresent, values->front(), padding.front())};
  };
  int64_t known = reducedElements(reduction);
  context.longestReduction = ShapedType::isDynamic(known) ? std::numeric_limits<int64_t>::max() : known;
  return tree.joinBlocks(binary<arith::MinUIOp>(own.length, own.total), length, identities,
                         combiningOp(reduction), leaf);
}

//===- Chains -------------------------------------------------------------===//

// A node of a selection, such as argmax, is a chain.
FailureOr<SmallVector<Value>> PartialTree::wholeChain(linalg::GenericOp reduction, ArrayRef<Index> loops,
                                                      ArrayRef<Value> start, const Position &position) {
  if (emitter.work == KernelContext::Work::merge)
    return joinNodes(reduction, start, position);
  const Nodes own = nodes[reduction];
  Value from = binary<arith::MulIOp>(own.number, own.length);
  Value to = binary<arith::MinUIOp>(binary<arith::AddIOp>(from, own.length), own.total);
  return emitter.chains.unrolled(reduction, loops, start, from, to, leafLength(kernel, reduction, division));
}

//===- The kernel that joins nodes ----------------------------------------===//

LogicalResult PartialTree::emitJoin() {
  layOutNodes();
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  Nest nest = kernelOutputs.nestOver(results.front(), outputs);
  launchShape = {division.joinsByThreads ? MappingLevel::thread : MappingLevel::warp, 0,
                 static_cast<int64_t>(nest.shape.size())};
  if (!division.joinsByThreads)
    return emitter.rowLoops.emitSummedElements(outputs, nest);
  return emitter.emitNest(nest, [&](ArrayRef<Position> positions) {
    return kernelOutputs.storeOutputs(outputs, results, positions);
  });
}

// The node with that number, or padding after the last one.
SmallVector<Value> PartialTree::loadNode(linalg::GenericOp reduction, const Position &position, Value number,
                                         ValueRange padding) {
  const Nodes own = nodes[reduction];
  Value last = binary<arith::SubIOp>(own.count, indexConstant(1));
  Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, number, last);
  Position at = {{binary<arith::MinUIOp>(number, last), 0, nullptr}};
  llvm::append_range(at, position);
  SmallVector<Value> values;
  for (auto [buffer, otherwise] : llvm::zip_equal(own.buffers, padding))
    values.push_back(
        arith::SelectOp::create(builder, loc, isPresent, memoryAccess.load(buffer, at), otherwise));
  return values;
}

SmallVector<Value> PartialTree::joinWarp(linalg::GenericOp reduction, SmallVector<Value> parts) {
  return joinThreads(emitter, reduction, std::move(parts), kWarpThreads);
}

// The nodes of one iteration, a subtree: each thread joins kNodesPerThread, then the threads of the warp
// join.
FailureOr<SmallVector<Value>> PartialTree::joinGroup(linalg::GenericOp reduction, const Position &position,
                                                     Value lower, ValueRange padding) {
  Value first =
      mapping.perThread
          ? lower
          : binary<arith::AddIOp>(lower, binary<arith::MulIOp>(mapping.lane, indexConstant(kNodesPerThread)));
  SmallVector<SmallVector<Value>> parts;
  for (int64_t i = 0; i < kNodesPerThread; ++i)
    parts.push_back(loadNode(reduction, position, binary<arith::AddIOp>(first, indexConstant(i)), padding));
  for (int64_t distance = 1; distance < kNodesPerThread; distance *= 2)
    for (int64_t i = 0; i < kNodesPerThread; i += 2 * distance)
      parts[i] = joinParts(reduction, parts[i], parts[i + distance]);
  return mapping.perThread ? parts.front() : joinWarp(reduction, parts.front());
}

FailureOr<SmallVector<Value>> PartialTree::joinNodes(linalg::GenericOp reduction, ArrayRef<Value> identities,
                                                     const Position &position) {
  SmallVector<Value> padding = paddingNodes(reduction, identities);
  int64_t nodesPerIteration = kNodesPerThread * (mapping.perThread ? 1 : kWarpThreads);
  auto join = [&](Value lower, Value) { return joinGroup(reduction, position, lower, padding); };
  const Nodes own = nodes[reduction];
  std::optional<int64_t> total = getConstantIntValue(getAsOpFoldResult(own.total));
  if (total &&
      int64_t(llvm::divideCeil(*total, leafLength(kernel, reduction, division))) <= nodesPerIteration)
    return join(indexConstant(0), own.count);
  // An instruction's chains are nodes, so that there are as many as K has.
  int64_t chain = division.tiles ? division.tiles->chain : 0;
  context.longestReduction = chain != 0 ? kMaxMemoryBytes / chain : kMaxNodes;
  if (reduction.getNumResults() == 1)
    return tree.joinBlocks(own.count, nodesPerIteration, identities, combiningOp(reduction), join);
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), own.count, indexConstant(nodesPerIteration),
                                 padding);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  FailureOr<SmallVector<Value>> next = join(loop.getInductionVar(), own.count);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, joinParts(reduction, loop.getRegionIterArgs(), *next));
  return SmallVector<Value>(loop.getResults());
}
