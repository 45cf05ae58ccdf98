// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of few rows, and sums of columns, whose large operand is read once: memory bandwidth is the
// limit. A tile would read a short part of each of its rows, far apart. Here a unit of work alternates
// between long parts of several rows, and its accumulators are in the first-level cache instead of in
// registers. Each result still has its own ascending chain within a block of the order.

#include "StreamedReductions.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static constexpr int64_t kMaxRows = 8, kMaxVectors = 2;

// Rows of the operand in one iteration: sixteen, and fewer for the remainder of a block of the order.
static constexpr int64_t kSteps[] = {16, 4, 1};

// Whether tiles read a row of the operand faster, because few tiles cover it: up to one and a quarter, and up
// to one and three quarters if several results use what a tile loads. Measured on Zen 4.
static bool fewTilesCover(const TileTable &tiles, int64_t rows, int64_t columns, int64_t lanes) {
  constexpr int64_t kSeveralRows = 4;
  int64_t quarters = rows < kSeveralRows ? 5 : 7;
  return 4 * columns <= quarters * tiles.vectors * lanes;
}

// The number of vectors of accumulators that fill half of the registers.
static int64_t accumulatorVectors(const TileTable &tiles, Type sum) {
  int64_t registers = std::max<int64_t>(1, memoryBytes(sum) / kLaneBytes);
  return tiles.registers / 2 / registers;
}

// Columns of a unit, whose results stay in the first-level cache; 0 when the reduction is not to be streamed.
int64_t StreamedReductions::streamedColumns(linalg::GenericOp generic) {
  constexpr int64_t kMaxColumns = 4096, kMinColumns = 1024, kEnoughUnits = 32;
  auto type = cast<RankedTensorType>(generic.getResult(0).getType());
  CPUNest nest;
  nest.shape.assign(type.getShape().begin(), type.getShape().end());
  ArrayRef<int64_t> shape = nest.shape;
  int64_t axis = nest.laneAxis();
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  if (!type.hasStaticShape() || type.getNumElements() == 0 || axis < 0 ||
      generic.getNumReductionLoops() != 1 || !out.isProjectedPermutation() ||
      kernel.getOrderAttr().hasLanes() || partialTrees.blocksOfPartial(generic) != 1)
    return 0;
  int64_t rows = type.getNumElements() / shape[axis];
  if (rows > kMaxRows || rows > accumulatorVectors(tiles, type.getElementType()) ||
      fewTilesCover(tiles, rows, shape[axis], vectorLanes) || shape[axis] < vectorLanes)
    return 0;
  unsigned column = out.getDimPosition(axis);
  bool reads = false;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(operand);
    if (!map.isFunctionOfDim(column))
      continue;
    if (!buffers.count(operand->get()) || !map.isProjectedPermutation() ||
        map.getResults().back() != builder.getAffineDimExpr(column))
      return 0;
    Type operandType = operand->get().getType();
    reads |= rows == 1 ? isSweptFaster(operandType) : isFromMemory(operandType);
  }
  int64_t blocks = llvm::divideCeil(reducedElements(generic), kernel.getOrderAttr().getPartLength());
  int64_t wanted =
      llvm::divideCeil(shape[axis], llvm::divideCeil(kEnoughUnits, std::max<int64_t>(blocks, 1)));
  int64_t width = llvm::alignTo(std::min(wanted, kMaxColumns / rows), kMaxVectors * vectorLanes);
  return reads ? std::min(std::max(kMinColumns, width), shape[axis]) : 0;
}

// The rows of the results, up to the contiguous axis.
static SmallVector<Position> rowsOf(const Buffer &result, int64_t axis,
                                    function_ref<Value(int64_t)> constant) {
  SmallVector<Position> rows(1);
  for (int64_t size : ArrayRef(result.shape).take_front(axis)) {
    SmallVector<Position> longer;
    for (const Position &row : rows)
      for (int64_t i = 0; i < size; ++i)
        longer.emplace_back(row).push_back({constant(i), 0, nullptr});
    rows = std::move(longer);
  }
  return rows;
}

// `count` steps of the chains of all positions, from step `first` on.
LogicalResult StreamedReductions::streamSteps(linalg::GenericOp generic, const Buffer &result,
                                              ArrayRef<Position> positions, Value first, int64_t count) {
  Scope scope(context);
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  SmallVector<Value> accumulators;
  for (const Position &position : positions)
    accumulators.push_back(memoryAccess.load(result, position));
  for (int64_t step = 0; step < count; ++step) {
    Value k = binary<arith::AddIOp>(first, indexConstant(step));
    for (auto [i, position] : llvm::enumerate(positions))
      if (failed(chainSteps.step(generic, maps.loopsFromOutput(generic, map, position), k,
                                 MutableArrayRef(accumulators).slice(i, 1))))
        return failure();
  }
  stores.storeAll(result, positions, accumulators);
  return success();
}

LogicalResult StreamedReductions::startChains(linalg::GenericOp generic, const Buffer &result,
                                              ArrayRef<Position> positions) {
  Scope scope(context);
  for (const Position &position : positions) {
    FailureOr<Value> identity = evaluator.evaluateOne(generic.getDpsInits().front(), position);
    if (failed(identity))
      return failure();
    stores.store(result, position, lanes > 1 ? laneValues.splat(*identity, lanes) : *identity);
  }
  return success();
}

// One block of `width` columns, and one block of the order, the last of which may be short. `rows` are the
// rows of the results.
LogicalResult StreamedReductions::emitUnit(linalg::GenericOp generic, const CPUNest &nest, Buffer &result,
                                           ArrayRef<Position> rows, Value width, Value unit) {
  PartialResults &partial = partialTrees.partials[generic];
  int64_t columns = result.shape[nest.laneAxis()];
  partial.number = binary<arith::RemUIOp>(unit, partial.count);
  result.pointer = partialTrees.addressOfPartial(partial, result);
  Value lower = binary<arith::MulIOp>(binary<arith::DivUIOp>(unit, partial.count), width);
  Value upper = binary<arith::MinUIOp>(binary<arith::AddIOp>(lower, width), indexConstant(columns));
  auto overColumns = [&](Store store) { return laneLoop.emitLaneLoop(nest, lower, upper, rows, store); };
  auto steps = [&](Value from, Value to, int64_t count) {
    return emitLoop(from, to, indexConstant(count), [&](Value k) {
      return overColumns(
          [&](ArrayRef<Position> positions) { return streamSteps(generic, result, positions, k, count); });
    });
  };
  if (failed(
          overColumns([&](ArrayRef<Position> positions) { return startChains(generic, result, positions); })))
    return failure();
  Value from = binary<arith::MulIOp>(partial.number, indexConstant(partial.length));
  Value to =
      binary<arith::MinUIOp>(binary<arith::AddIOp>(from, indexConstant(partial.length)), partial.total);
  for (int64_t count : kSteps) {
    Value rest = binary<arith::RemUIOp>(binary<arith::SubIOp>(to, from), indexConstant(count));
    Value end = binary<arith::SubIOp>(to, rest);
    if (failed(steps(from, end, count)))
      return failure();
    from = end;
  }
  return success();
}

LogicalResult StreamedReductions::emitStreamedReduction(linalg::GenericOp generic, Buffer &result,
                                                        UnitRange units) {
  PartialResults &partial = partialTrees.partials[generic];
  CPUNest nest = kernelOutputs.nestOver(result, {});
  SmallVector<Position> rows = rowsOf(result, nest.laneAxis(), [&](int64_t i) { return indexConstant(i); });
  // One row has one vector: the cache misses of sixteen rows are enough to overlap.
  int64_t maxVectors = rows.size() == 1 ? 1 : kMaxVectors;
  nest.vectors =
      std::clamp<int64_t>(accumulatorVectors(tiles, result.element) / int64_t(rows.size()), 1, maxVectors);
  Value width = indexConstant(partial.columns);
  return emitLoop(units.begin, units.end, indexConstant(1),
                  [&](Value unit) { return emitUnit(generic, nest, result, rows, width, unit); });
}
