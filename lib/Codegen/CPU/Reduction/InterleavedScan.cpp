// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions of few chains along the axis that is contiguous in memory. As many blocks of the order
// as a vector has lanes are summed at once, one in each lane: squares of steps and blocks are transposed in
// registers. The accumulators wait on the stack until the totals of the blocks before are known; then they
// are joined with them, transposed back and stored.

#include "InterleavedScan.h"
#include "../Movement/VectorShuffles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// With fewer blocks, a vector of them takes longer than one after the other.
static constexpr int64_t kMinBlocks = 3;
// Vectors that are copied in one step of a loop.
static constexpr int64_t kUnroll = 4;
static constexpr int64_t kMaxStackBytes = 64 * 1024;

//===- Which scans --------------------------------------------------------===//

// Of what memory has of a step, at one time or another.
static Type widestOf(linalg::GenericOp scan) {
  Type widest;
  for (Type tensor :
       {scan.getDpsInputs()[0].getType(), scan.getResult(0).getType(), scan.getResult(1).getType()}) {
    Type memory = memoryType(getElementTypeOrSelf(tensor));
    if (!widest || memoryBytes(memory) > memoryBytes(widest))
      widest = memory;
  }
  return widest;
}

bool InterleavedScan::canInterleave(linalg::GenericOp scan, ArrayRef<Index> loops) {
  Type accumulator = getElementTypeOrSelf(scan.getResult(1));
  int64_t block = kernel.getOrderAttr().getPartLength();
  StepOperands result = operandsOfStep(scan);
  bool fits =
      accumulator.isIntOrFloat() && block <= kMaxStackBytes &&
      block * vectorLanes * memoryBytes(widestOf(scan)) <= std::min(kMaxStackBytes, stackMemory.left());
  return lanes == 1 && vectorLanes > 1 && scan.getNumDpsInputs() == 1 && isContiguousScan(scan) && fits &&
         block % vectorLanes == 0 && !result.others && !(result.before && result.next) &&
         llvm::all_of(llvm::enumerate(loops), [&](auto each) {
           return each.index() == scannedDim(scan) || each.value().isUniform();
         });
}

bool InterleavedScan::prefersBlocks(linalg::GenericOp scan) {
  if (!hasNestedChains(scan) || !isContiguousScan(scan))
    return false;
  Nest chains = nestOverChains(scan);
  int64_t axis = chains.laneAxis(), length = scan.getStaticLoopRanges()[scannedDim(scan)];
  int64_t count = axis < 0 ? 1 : chains.shape[axis];
  bool areFew = !ShapedType::isDynamic(count) && 2 * count <= vectorLanes;
  return areFew &&
         (ShapedType::isDynamic(length) || length >= kMinBlocks * kernel.getOrderAttr().getPartLength());
}

//===- Groups of blocks ---------------------------------------------------===//

LogicalResult InterleavedScan::scanLeadingBlocks(linalg::GenericOp scan, const Buffer *destination,
                                                 ArrayRef<Index> loops, const Tile &tile, Value &lower,
                                                 Value &total) {
  if (!canInterleave(scan, loops))
    return success();
  int64_t length = kernel.getOrderAttr().getPartLength();
  Value count = binary<arith::DivUIOp>(binary<arith::SubIOp>(tile.upper, tile.lower), indexConstant(length));
  Value rest = binary<arith::RemUIOp>(count, indexConstant(vectorLanes));
  Value isShort =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, rest, indexConstant(kMinBlocks));
  rest = arith::SelectOp::create(builder, loc, isShort, rest, indexConstant(0));
  Value end = binary<arith::AddIOp>(
      tile.lower, binary<arith::MulIOp>(binary<arith::SubIOp>(count, rest), indexConstant(length)));
  Value memory = stackMemory.allocate(widestOf(scan), length * vectorLanes);
  auto loop = scf::ForOp::create(builder, loc, tile.lower, end, indexConstant(length * vectorLanes), total);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Scope scope(context);
    Value next = loop.getRegionIterArg(0);
    Group group = groupAt(loops, loop.getInductionVar(), end);
    group.memory = memory;
    group.widest = widestOf(scan);
    group.keepsSteps = destination;
    if (failed(load(scan, group)))
      return failure();
    FailureOr<Value> sums = sumGroup(scan, group, startOfGroup(scan, tile, group));
    if (failed(sums))
      return failure();
    Value carries = carriesOf(scan, tile, group, *sums, next);
    if (destination && (failed(joinGroup(scan, group, carries)) || failed(store(scan, *destination, group))))
      return failure();
    scf::YieldOp::create(builder, loc, next);
  }
  total = loop.getResult(0);
  lower = end;
  return success();
}

InterleavedScan::Group InterleavedScan::groupAt(ArrayRef<Index> loops, Value begin, Value end) {
  Group group;
  group.begin = begin;
  group.loops.assign(loops.begin(), loops.end());
  Value left = binary<arith::DivUIOp>(binary<arith::SubIOp>(end, begin),
                                      indexConstant(kernel.getOrderAttr().getPartLength()));
  group.count = binary<arith::MinUIOp>(left, indexConstant(vectorLanes));
  for (int64_t i = 0; i < vectorLanes; ++i)
    group.isOwn.push_back(i < kMinBlocks ? Value()
                                         : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                                                 indexConstant(i), group.count));
  return group;
}

// Only the first block of the chain has a start of its own.
Value InterleavedScan::startOfGroup(linalg::GenericOp scan, const Tile &tile, const Group &group) {
  Value neutral = neutralOf(scan);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, group.begin, indexConstant(0));
  Value first = arith::SelectOp::create(builder, loc, isFirst, movable(tile.start), movable(neutral));
  Type element = tile.start.getType();
  Value lanesOfGroup = toMemory(laneValues.splat(neutral, vectorLanes));
  first = toMemory(fromMemory(first, element));
  return fromMemory(vector::InsertOp::create(builder, loc, first, lanesOfGroup, ArrayRef<int64_t>{0}),
                    element);
}

//===- Memory of a group --------------------------------------------------===//

// A vector has a place for as many elements of the widest type. The vectors of a square, read as rows of
// steps and written as rows of blocks, have the same places.
Value InterleavedScan::addressOf(const Group &group, Value block, Value first) {
  Value row = binary<arith::MulIOp>(block, indexConstant(kernel.getOrderAttr().getPartLength()));
  Value index =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), binary<arith::AddIOp>(row, first));
  return LLVM::GEPOp::create(builder, loc, group.memory.getType(), group.widest, group.memory,
                             ValueRange{index});
}

// Places follow each other in memory that begins at a cache line.
static int64_t alignmentOf(Type vector) {
  auto type = cast<VectorType>(vector);
  return std::min(kCore.lineBytes, type.getNumElements() * memoryBytes(type.getElementType()));
}

Value InterleavedScan::loadVector(const Group &group, Value block, Value first, Type element) {
  auto type = VectorType::get(vectorLanes, memoryType(element));
  return LLVM::LoadOp::create(builder, loc, type, addressOf(group, block, first), alignmentOf(type));
}

void InterleavedScan::storeVector(const Group &group, Value block, Value first, Value vector) {
  LLVM::StoreOp::create(builder, loc, vector, addressOf(group, block, first), alignmentOf(vector.getType()));
}

// The vectors of the blocks of a group as they follow each other in memory: the hardware prefetcher follows
// that, but not the squares, which take a cache line of each block in turn.
LogicalResult InterleavedScan::overVectors(const Group &group,
                                           function_ref<LogicalResult(Value, Value)> code) {
  int64_t length = kernel.getOrderAttr().getPartLength();
  return emitLoop(indexConstant(0), group.count, indexConstant(1), [&](Value block) -> LogicalResult {
    int64_t step = vectorLanes * (length % (kUnroll * vectorLanes) == 0 ? kUnroll : 1);
    return emitLoop(indexConstant(0), indexConstant(length), indexConstant(step),
                    [&](Value first) -> LogicalResult {
                      WithLanes vectorCode(context, vectorLanes, nullptr);
                      for (int64_t i = 0; i < step; i += vectorLanes)
                        if (failed(code(block, binary<arith::AddIOp>(first, indexConstant(i)))))
                          return failure();
                      return success();
                    });
  });
}

SmallVector<Index> InterleavedScan::vectorAt(linalg::GenericOp scan, const Group &group, Value block,
                                             Value first) {
  Value begin = binary<arith::MulIOp>(block, indexConstant(kernel.getOrderAttr().getPartLength()));
  begin = binary<arith::AddIOp>(group.begin, begin);
  return alongSteps(scan, group.loops, binary<arith::AddIOp>(begin, first));
}

LogicalResult InterleavedScan::load(linalg::GenericOp scan, const Group &group) {
  Value input = scan.getDpsInputs()[0];
  AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInputOperand(0));
  return overVectors(group, [&](Value block, Value first) -> LogicalResult {
    FailureOr<Value> value = values.evaluateOne(input, maps.apply(map, vectorAt(scan, group, block, first)));
    if (failed(value))
      return failure();
    storeVector(group, block, first, toMemory(laneValues.splat(*value, lanes)));
    return success();
  });
}

LogicalResult InterleavedScan::store(linalg::GenericOp scan, const Buffer &destination, const Group &group) {
  return overVectors(group, [&](Value block, Value first) {
    Value value = fromMemory(loadVector(group, block, first, destination.element), destination.element);
    stores.store(destination, maps.apply(stepMapOf(scan), vectorAt(scan, group, block, first)), value);
    return success();
  });
}

//===- Squares ------------------------------------------------------------===//

// The indices of a step in all lanes. Lanes that repeat the last block read none of their own.
SmallVector<Index> InterleavedScan::stepOf(linalg::GenericOp scan, const Group &group, Value first,
                                           int64_t number) {
  SmallVector<Index> step(group.loops);
  Value base = binary<arith::AddIOp>(binary<arith::AddIOp>(group.begin, first), indexConstant(number));
  step[scannedDim(scan)] = {base, kernel.getOrderAttr().getPartLength(), nullptr};
  return step;
}

// The accumulators of all steps. Returns the sums of the blocks.
FailureOr<Value> InterleavedScan::sumGroup(linalg::GenericOp scan, const Group &group, Value start) {
  auto loop =
      scf::ForOp::create(builder, loc, indexConstant(0), indexConstant(kernel.getOrderAttr().getPartLength()),
                         indexConstant(vectorLanes), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  WithLanes vectorCode(context, vectorLanes, nullptr);
  Value accumulator = loop.getRegionIterArg(0);
  if (failed(sumSquare(scan, group, loop.getInductionVar(), accumulator)))
    return failure();
  scf::YieldOp::create(builder, loc, accumulator);
  return loop.getResult(0);
}

LogicalResult InterleavedScan::sumSquare(linalg::GenericOp scan, const Group &group, Value first,
                                         Value &accumulator) {
  Value input = scan.getDpsInputs()[0], last = binary<arith::SubIOp>(group.count, indexConstant(1));
  AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInputOperand(0));
  Type element = getElementTypeOrSelf(input);
  SmallVector<Value> square;
  for (int64_t i = 0; i < vectorLanes; ++i) {
    Value block = i < kMinBlocks ? indexConstant(i) : binary<arith::MinUIOp>(indexConstant(i), last);
    square.push_back(loadVector(group, block, first, element));
  }
  transposeInRegisters(builder, loc, square);
  bool before = operandsOfStep(scan).before;
  for (auto [number, value] : llvm::enumerate(square)) {
    Scope scope(context);
    SmallVector<Index> step = stepOf(scan, group, first, number);
    remember(input, maps.apply(map, step), fromMemory(value, element));
    FailureOr<Value> next = nextOf(scan, step, accumulator);
    if (failed(next))
      return failure();
    if (group.keepsSteps)
      storeVector(group, indexConstant(number), first, toMemory(before ? accumulator : *next));
    accumulator = *next;
  }
  return success();
}

// The totals of what is before each block, and in `total` that of the tile up to the end of the group. Lanes
// without a block of their own have the carry of the block that they repeat.
Value InterleavedScan::carriesOf(linalg::GenericOp scan, const Tile &tile, const Group &group, Value sums,
                                 Value &total) {
  Type element = total.getType();
  Value memory = toMemory(sums), carries = memory, before;
  for (int64_t i = 0; i < vectorLanes; ++i) {
    Value isOwn = group.isOwn[i];
    auto choose = [&](Value own, Value otherwise) {
      if (!isOwn)
        return own;
      Value chosen = arith::SelectOp::create(builder, loc, isOwn, movable(own), movable(otherwise));
      return fromMemory(chosen, element);
    };
    before = choose(join(scan, tile.carry, total), before);
    Value sum = fromMemory(vector::ExtractOp::create(builder, loc, memory, ArrayRef<int64_t>{i}), element);
    total = choose(join(scan, total, sum), total);
    carries = vector::InsertOp::create(builder, loc, toMemory(before), carries, ArrayRef<int64_t>{i});
  }
  return fromMemory(carries, element);
}

LogicalResult InterleavedScan::joinGroup(linalg::GenericOp scan, const Group &group, Value carries) {
  return emitLoop(indexConstant(0), indexConstant(kernel.getOrderAttr().getPartLength()),
                  indexConstant(vectorLanes), [&](Value first) {
                    WithLanes vectorCode(context, vectorLanes, nullptr);
                    return joinSquare(scan, group, first, carries);
                  });
}

LogicalResult InterleavedScan::joinSquare(linalg::GenericOp scan, const Group &group, Value first,
                                          Value carries) {
  Type element = getElementTypeOrSelf(carries);
  SmallVector<Value> square;
  for (int64_t number = 0; number < vectorLanes; ++number) {
    Scope scope(context);
    Value kept = fromMemory(loadVector(group, indexConstant(number), first, element), element);
    FailureOr<Value> result = resultOf(scan, stepOf(scan, group, first, number), carries, kept, kept);
    if (failed(result))
      return failure();
    square.push_back(toMemory(laneValues.splat(*result, lanes)));
  }
  transposeInRegisters(builder, loc, square);
  for (auto [i, value] : llvm::enumerate(square))
    storeVector(group, indexConstant(i), first, value);
  return success();
}
