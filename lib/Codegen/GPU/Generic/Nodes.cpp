// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions that a grid of threads shares (decision 0018). The tree of the order is cut where each node is
// the sum of 2 to the power of k leaves that follow each other: one function writes these nodes to memory,
// another one joins them and is the rest of the kernel. Both follow the tree, so the bits are those of the
// undivided kernel, whatever k is; the host chooses it by the sizes and the processors of the device.

#include "GenericEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Nodes that one thread joins in straight code, all of whose loads are under way together.
static constexpr int64_t kNodesTogether = 8;
static constexpr int64_t kScratchAlignment = 64;
// Steps of a chain in straight code, so that their loads are under way together, and its operations at most.
static constexpr int64_t kStepsTogether = 32, kLongestCode = 512;

LogicalResult GenericEmitter::emitDivided(const Division &divided, Work part) {
  division = divided;
  setWork(part);
  return emit();
}

// Leaves that the last node lacks, and nodes behind the last, take part in no join: they hold what every join
// keeps. Sums that start from +0 keep -0 only.
SmallVector<Value> GenericEmitter::absentNodes(linalg::GenericOp reduction, ArrayRef<Value> identities) {
  auto type = dyn_cast<FloatType>(identities.front().getType());
  bool sums = reduction.getNumResults() == 1 && isa<math::FmaOp, arith::AddFOp>(combiningOp(reduction));
  if (!type || !sums)
    return llvm::to_vector(identities);
  return {arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, -0.0))};
}

SmallVector<Value> GenericEmitter::joinParts(linalg::GenericOp reduction, ValueRange left, ValueRange right) {
  if (reduction.getNumResults() > 1)
    return joinSelections(builder, loc, reduction, left, right);
  return {reductions.joinValues(combiningOp(reduction), left.front(), right.front())};
}

Value GenericEmitter::placeNodes(Value memory, Value leaves) {
  Value bytes = indexConstant(0), line = indexConstant(kScratchAlignment);
  for (linalg::GenericOp reduction : division.reductions) {
    Nodes own;
    own.length = binary<arith::MulIOp>(leaves, indexConstant(leafLength(kernel, reduction)));
    own.total = reductions.reducedTotal(reduction);
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
      size = binary<arith::MulIOp>(binary<arith::CeilDivUIOp>(size, line), line);
      bytes = binary<arith::AddIOp>(bytes, size);
      own.buffers.push_back(std::move(buffer));
    }
    nodes[reduction] = std::move(own);
  }
  return bytes;
}

//===- Nodes --------------------------------------------------------------===//

// Neighbouring threads take neighbouring results of one node.
LogicalResult GenericEmitter::emitNodes() {
  placeNodes(nodeMemory, leavesOfNode);
  for (linalg::GenericOp reduction : division.reductions) {
    ArrayRef<Value> sizes = nodes[reduction].buffers.front().sizes;
    Value count = elementCount(sizes);
    auto emitOne = [&](Value number) { return emitNode(reduction, number, sizes); };
    if (reductions.usesLanes(reduction)) {
      if (failed(emitNodesInLanes(count, emitOne)))
        return failure();
      continue;
    }
    Spread ofThread(*this);
    if (failed(emitLoop(thread, count, threads, emitOne)))
      return failure();
  }
  return success();
}

LogicalResult GenericEmitter::emitNodesInLanes(Value count, function_ref<LogicalResult(Value)> emitNode) {
  launchShape.threadsPerElement = kWarpThreads;
  return emitLoop(warp, count, warps, emitNode);
}

LogicalResult GenericEmitter::emitNode(linalg::GenericOp reduction, Value number, ValueRange sizes) {
  Scope scope(*this);
  Nodes &own = nodes[reduction];
  Position position = positionOfElement(number, sizes);
  own.number = position.front().base;
  Position place(ArrayRef<Index>(position).drop_front());
  FailureOr<SmallVector<Value>> values = reductions.reduceAll(reduction, 0, ArrayRef<Position>(place));
  if (failed(values))
    return failure();
  for (auto [buffer, value] : llvm::zip_equal(own.buffers, *values))
    store(buffer, position, value);
  return success();
}

// All threads of a warp go through as many leaves, since they agree by shuffles.
FailureOr<SmallVector<Value>> GenericEmitter::orderedTree(linalg::GenericOp reduction,
                                                          ArrayRef<Value> identities,
                                                          ArrayRef<Position> positions, BlockCode block,
                                                          int64_t blocksTogether) {
  auto found = nodes.find(reduction);
  if (found == nodes.end())
    return KernelEmitter::orderedTree(reduction, identities, positions, block, blocksTogether);
  if (work == Work::merge)
    return joinNodes(reduction, identities, positions.front());
  const Nodes own = found->second;
  int64_t length = leafLength(kernel, reduction);
  Value from = binary<arith::MulIOp>(own.number, own.length), some = indexConstant(1);
  SmallVector<Value> absent = absentNodes(reduction, identities);
  AffineMap map = reduction.getMatchingIndexingMap(reduction.getDpsInitOperand(0));
  SmallVector<Index> loops = evaluator.loopsFromOutput(reduction, map, positions.front());
  auto leaf = [&](Value lower, Value) -> FailureOr<SmallVector<Value>> {
    Value begin = binary<arith::AddIOp>(from, lower);
    Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, begin,
                                            binary<arith::MaxUIOp>(own.total, some));
    begin = binary<arith::MinUIOp>(begin, own.total);
    Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(begin, indexConstant(length)), own.total);
    auto values = reductions.usesLanes(reduction) ? block(begin, end)
                                                  : steadyChain(reduction, loops, identities, begin, end);
    if (failed(values))
      return failure();
    return SmallVector<Value>{
        arith::SelectOp::create(builder, loc, isPresent, values->front(), absent.front())};
  };
  int64_t known = reducedElements(reduction);
  longest = ShapedType::isDynamic(known) ? std::numeric_limits<int64_t>::max() : known;
  return reductions.pairwiseTree(binary<arith::MinUIOp>(own.length, own.total), length, identities,
                                 combiningOp(reduction), leaf);
}

//===- Chains -------------------------------------------------------------===//

FailureOr<SmallVector<Value>> GenericEmitter::chainInSteps(linalg::GenericOp reduction, ArrayRef<Index> loops,
                                                           ArrayRef<Value> start, Value lower, Value upper,
                                                           int64_t steps) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(steps), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  SmallVector<Value> next(loop.getRegionIterArgs());
  for (int64_t i = 0; i < steps; ++i) {
    Value k = binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i));
    if (failed(reductions.chainStep(reduction, loops, k, next)))
      return failure();
  }
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

// The chain of a thread, whose next elements are on their way while it adds those before.
FailureOr<SmallVector<Value>> GenericEmitter::steadyChain(linalg::GenericOp reduction, ArrayRef<Index> loops,
                                                          ArrayRef<Value> start, Value lower, Value upper) {
  if (failed(hoisting.hoistReduced(reduction, SmallVector<Index>(loops))))
    return failure();
  int64_t operations = 0;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    operations += llvm::range_size(*generic.getBlock());
  int64_t steps = std::clamp<int64_t>(kLongestCode / std::max<int64_t>(operations, 1), 1, kStepsTogether);
  Value rest = binary<arith::RemUIOp>(binary<arith::SubIOp>(upper, lower), indexConstant(steps));
  Value middle = binary<arith::SubIOp>(upper, rest);
  auto sums = chainInSteps(reduction, loops, start, lower, middle, steps);
  return failed(sums) || steps == 1 ? sums : chainInSteps(reduction, loops, *sums, middle, upper, 1);
}

// Of a selection the nodes are chains.
FailureOr<SmallVector<Value>> GenericEmitter::wholeChain(linalg::GenericOp reduction,
                                                         ArrayRef<SmallVector<Index>> loops,
                                                         ArrayRef<Value> start,
                                                         ArrayRef<Position> positions) {
  auto found = nodes.find(reduction);
  if (found == nodes.end())
    return KernelEmitter::wholeChain(reduction, loops, start, positions);
  if (work == Work::merge)
    return joinNodes(reduction, start, positions.front());
  const Nodes own = found->second;
  Value from = binary<arith::MulIOp>(own.number, own.length);
  Value to = binary<arith::MinUIOp>(binary<arith::AddIOp>(from, own.length), own.total);
  return steadyChain(reduction, loops.front(), start, from, to);
}

//===- The kernel from its nodes ------------------------------------------===//

LogicalResult GenericEmitter::emitJoin() {
  placeNodes(nodeMemory, leavesOfNode);
  ValueRange roots = kernel.getBody().front().getTerminator()->getOperands();
  Nest nest = outputs.nestOver(results.front(), roots);
  launchShape = {division.joinsByThreads ? MappingLevel::thread : MappingLevel::warp, 0,
                 static_cast<int64_t>(nest.shape.size())};
  if (!division.joinsByThreads)
    return emitSummedElements(roots, nest);
  return GenericEmitter::emitNest(
      nest, [&](ArrayRef<Position> positions) { return outputs.storeRoots(roots, results, positions); });
}

// The node with that number, or what stands for those behind the last.
SmallVector<Value> GenericEmitter::nearestNodes(linalg::GenericOp reduction, const Position &position,
                                                Value number, ValueRange absent) {
  const Nodes own = nodes[reduction];
  Value last = binary<arith::SubIOp>(own.count, indexConstant(1));
  Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, number, last);
  Position at = {{binary<arith::MinUIOp>(number, last), 0, nullptr}};
  llvm::append_range(at, position);
  SmallVector<Value> values;
  for (auto [buffer, otherwise] : llvm::zip_equal(own.buffers, absent))
    values.push_back(
        arith::SelectOp::create(builder, loc, isPresent, memoryAccess.load(buffer, at), otherwise));
  return values;
}

// Neighbours first, as in the tree. Every thread gets the whole.
SmallVector<Value> GenericEmitter::joinWarp(linalg::GenericOp reduction, SmallVector<Value> parts) {
  for (int64_t distance = 1; distance < kWarpThreads; distance *= 2) {
    Value bit = binary<arith::AndIOp>(lane, indexConstant(distance));
    Value isRight = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, indexConstant(0));
    SmallVector<Value> left, right;
    for (Value own : parts) {
      Value other = shuffle(own, distance);
      left.push_back(arith::SelectOp::create(builder, loc, isRight, other, own));
      right.push_back(arith::SelectOp::create(builder, loc, isRight, own, other));
    }
    parts = joinParts(reduction, left, right);
  }
  return parts;
}

// A warp joins as many nodes together as are a node of the tree in turn.
FailureOr<SmallVector<Value>>
GenericEmitter::joinNodes(linalg::GenericOp reduction, ArrayRef<Value> identities, const Position &position) {
  SmallVector<Value> absent = absentNodes(reduction, identities);
  int64_t together = kNodesTogether * (spread ? 1 : kWarpThreads);
  auto joinFrom = [&](Value lower, Value) -> FailureOr<SmallVector<Value>> {
    Value first =
        spread ? lower
               : binary<arith::AddIOp>(lower, binary<arith::MulIOp>(lane, indexConstant(kNodesTogether)));
    SmallVector<SmallVector<Value>> parts;
    for (int64_t i = 0; i < kNodesTogether; ++i)
      parts.push_back(
          nearestNodes(reduction, position, binary<arith::AddIOp>(first, indexConstant(i)), absent));
    for (int64_t distance = 1; distance < kNodesTogether; distance *= 2)
      for (int64_t i = 0; i < kNodesTogether; i += 2 * distance)
        parts[i] = joinParts(reduction, parts[i], parts[i + distance]);
    return spread ? parts.front() : joinWarp(reduction, parts.front());
  };
  const Nodes own = nodes[reduction];
  std::optional<int64_t> total = getConstantIntValue(getAsOpFoldResult(own.total));
  if (total && int64_t(llvm::divideCeil(*total, leafLength(kernel, reduction))) <= together)
    return joinFrom(indexConstant(0), own.count);
  longest = kMostNodes;
  if (reduction.getNumResults() == 1)
    return reductions.pairwiseTree(own.count, together, identities, combiningOp(reduction), joinFrom);
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), own.count, indexConstant(together), absent);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  FailureOr<SmallVector<Value>> next = joinFrom(loop.getInductionVar(), own.count);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, joinParts(reduction, loop.getRegionIterArgs(), *next));
  return SmallVector<Value>(loop.getResults());
}
