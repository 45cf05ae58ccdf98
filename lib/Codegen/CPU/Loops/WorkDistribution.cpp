// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Units of work: the loops of a nest that threads divide, and the part of them that one call runs. Units are
// numbered like the iterations of nested loops, the last loop fastest, so a range of units is a part of the
// first and of the last iteration of a loop, and whole iterations between.

#include "WorkDistribution.h"
#include "adjoint/Dialect/AD/Transforms/OrderedWrite.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// So many units of work keep the threads of a large machine busy; more would only cost time. A contraction
// needs fewer, since its units (blocks of columns, tiles of rows) take longer.
static constexpr int64_t kEnoughUnits = 256, kEnoughTiles = 32;

static constexpr int64_t kPicosecondsOfNanosecond = 1000, kMaxPicoseconds = int64_t(1) << 56;

static int64_t sizeOrOne(int64_t size) { return ShapedType::isDynamic(size) ? 1 : size; }

// How long one step of the operation's loops takes.
static int64_t picosecondsOfStep(linalg::GenericOp generic) {
  if (isContraction(generic))
    return kStepTimes.fmaOfByte * memoryBytes(getElementTypeOrSelf(generic.getResult(0)));
  return kStepTimes.element +
         kStepTimes.function * llvm::range_size(generic.getBlock()->getOps<ElementaryOp>());
}

// The stores of the results, the steps of each operation, and the loads of contractions, which take longer
// than the steps if there are few rows: the picoseconds of one step, and how many there are.
SmallVector<WorkDistribution::Cost> WorkDistribution::costs() {
  SmallVector<Cost> all;
  for (const Buffer &result : results) {
    Cost &cost = all.emplace_back(Cost{kStepTimes.result, {}});
    for (auto [size, value] : llvm::zip_equal(result.shape, result.sizes))
      cost.multiply(size, value);
  }
  for (linalg::GenericOp generic : kernel.getBody().getOps<linalg::GenericOp>()) {
    SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
    auto multiply = [&](Cost &cost, unsigned dim) {
      Value known = ShapedType::isDynamic(ranges[dim]) ? reductionLoops.sizeOf(generic, dim) : Value();
      if (known || !ShapedType::isDynamic(ranges[dim]))
        cost.multiply(ranges[dim], known);
    };
    Cost &steps = all.emplace_back(Cost{picosecondsOfStep(generic), {}});
    std::optional<OrderedWrite> write = matchOrderedWrite(generic.getResult(0));
    for (unsigned dim = 0; dim < ranges.size(); ++dim)
      if (!write || !llvm::is_contained(write->searched, dim))
        multiply(steps, dim);
    if (!isContraction(generic))
      continue;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      Cost &bytes = all.emplace_back(
          Cost{kStepTimes.loadedByte * memoryBytes(getElementTypeOrSelf(operand->get())), {}});
      for (unsigned dim = 0; dim < ranges.size(); ++dim)
        if (generic.getMatchingIndexingMap(operand).isFunctionOfDim(dim))
          multiply(bytes, dim);
    }
  }
  return all;
}

void WorkDistribution::Cost::multiply(int64_t size, Value known) {
  if (ShapedType::isDynamic(size)) {
    sizes.push_back(known);
    return;
  }
  picoseconds = std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(picoseconds, size), kMaxPicoseconds);
}

Value WorkDistribution::estimatedNanoseconds() {
  Value sum = indexConstant(0);
  for (const Cost &cost : costs()) {
    Value own = indexConstant(cost.picoseconds);
    for (Value size : cost.sizes)
      own = binary<arith::MulIOp>(own, size);
    sum = binary<arith::AddIOp>(sum, own);
  }
  return binary<arith::DivUIOp>(sum, indexConstant(kPicosecondsOfNanosecond));
}

// None if a size is dynamic.
std::optional<int64_t> WorkDistribution::knownNanoseconds() {
  int64_t sum = 0;
  for (const Cost &cost : costs()) {
    if (!cost.sizes.empty())
      return std::nullopt;
    sum = std::min(sum + cost.picoseconds, kMaxPicoseconds);
  }
  return sum / kPicosecondsOfNanosecond;
}

// Whether the program says that the kernel is too short for threads.
bool WorkDistribution::isTooShort() {
  std::optional<int64_t> known = knownNanoseconds();
  return known && *known < tiles.shortNanoseconds;
}

// The loops over the first axes, until there are enough units; returns how many there are of static size, at
// most kEnoughUnits.
int64_t WorkDistribution::addUnitLoops(CPUNest &nest, int64_t axes) {
  int64_t count = 1;
  for (int64_t axis = 0; axis < axes && count < kEnoughUnits; ++axis)
    if (nest.shape[axis] != 1) {
      nest.unitLoops.push_back({{axis}, 1});
      count = std::min(count * std::min(sizeOrOne(nest.shape[axis]), kEnoughUnits), kEnoughUnits);
    }
  return count;
}

// The outermost loops, and parts of the vectorized loop if there would be too few units.
void WorkDistribution::chooseUnits(CPUNest &nest) {
  nest.units = unitsOfCall;
  nest.columns = nest.blocked ? blockShape.blockColumns(nest) : 0;
  if (isTooShort())
    return;
  if (nest.blocked)
    return chooseUnitsOfBlocks(nest);
  int64_t laneAxis = nest.vectorize ? nest.laneAxis() : -1;
  int64_t count = addUnitLoops(nest, laneAxis < 0 ? nest.shape.size() : laneAxis);
  if (laneAxis < 0 || count >= kEnoughUnits)
    return;
  int64_t size = nest.shape[laneAxis], minColumns = nest.vectors * vectorLanes;
  if (reducedSize(nest.outputs) == 0)
    minColumns = std::max(minColumns, tiles.unitElements);
  int64_t step = minColumns;
  if (!ShapedType::isDynamic(size)) {
    int64_t parts = kEnoughUnits / std::max<int64_t>(count, 1);
    step = std::max(minColumns, int64_t(llvm::alignTo(llvm::divideCeil(size, parts), minColumns)));
  }
  if (ShapedType::isDynamic(size) || size > step)
    nest.unitLoops.push_back({{laneAxis}, step});
}

// All elements as one axis.
void WorkDistribution::chooseFlatUnits(CPUNest &nest) {
  nest.units = unitsOfCall;
  if (!isTooShort())
    nest.unitLoops = {{llvm::to_vector(llvm::seq<int64_t>(0, nest.shape.size())), tiles.unitElements}};
}

void WorkDistribution::flatten(CPUNest &nest) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, nest.shape.size()));
  nest.sizes = {elementsAlong(nest, axes)};
  nest.shape = {ShapedType::kDynamic};
  for (UnitLoop &loop : nest.unitLoops)
    loop.axes = {0};
}

// Columns of a block: as many as stay in the cache, fewer if there would be too few units.
int64_t WorkDistribution::columnsOfUnit(const CPUNest &nest, int64_t units) {
  int64_t columns = nest.shape[nest.laneAxis()], tile = nest.vectors * vectorLanes;
  int64_t sizeK = reducedSize(nest.outputs), cached = blockShape.blockColumns(nest);
  int64_t rows = std::clamp<int64_t>(sizeOrOne(nest.rowCount()), 1, nest.rows);
  int64_t minColumns = llvm::divideCeil(tiles.tileSteps, rows * (sizeK ? sizeK : kUsualK));
  int64_t parts = llvm::divideCeil(kEnoughTiles, std::max<int64_t>(units, 1));
  int64_t wanted = ShapedType::isDynamic(columns) ? minColumns : llvm::divideCeil(columns, parts);
  int64_t width = llvm::alignTo(std::max(wanted, minColumns), tile);
  return cached ? std::min(width, cached) : width;
}

// Batches, blocks of columns, and tiles of rows.
void WorkDistribution::chooseUnitsOfBlocks(CPUNest &nest) {
  int64_t laneAxis = nest.laneAxis(), count = 1;
  for (int64_t axis = 0; axis < laneAxis; ++axis)
    if (nest.shape[axis] != 1 && !llvm::is_contained(nest.rowAxes, axis)) {
      nest.unitLoops.push_back({{axis}, 1});
      count = std::min(count * std::min(sizeOrOne(nest.shape[axis]), kEnoughTiles), kEnoughTiles);
    }
  int64_t rows = nest.rowCount(), columns = nest.shape[laneAxis];
  count *= std::min<int64_t>(llvm::divideCeil(sizeOrOne(rows), nest.rows), kEnoughTiles);
  nest.columns = columnsOfUnit(nest, count);
  nest.tileOfUnits = nest.rows;
  if (ShapedType::isDynamic(columns) || columns > nest.columns)
    nest.unitLoops.push_back({{laneAxis}, nest.columns});
  if (ShapedType::isDynamic(rows) || rows > nest.rows)
    nest.unitLoops.push_back({nest.rowAxes, nest.rows});
}

void WorkDistribution::chooseUnitsOfRows(CPUNest &rows) {
  rows.units = unitsOfCall;
  if (!isTooShort())
    addUnitLoops(rows, rows.shape.size());
}

void WorkDistribution::declareUnits(ArrayRef<UnitSpace> spaces) {
  function->setAttr(kUnitsAttr, unitsToAttribute(builder.getContext(), spaces));
}

Value WorkDistribution::elementsAlong(const CPUNest &nest, ArrayRef<int64_t> axes) {
  Value count = indexConstant(1);
  for (int64_t axis : axes)
    count = binary<arith::MulIOp>(count, nest.sizes[axis]);
  return count;
}

Value WorkDistribution::unitsFrom(const CPUNest &nest, unsigned loop) {
  Value count = indexConstant(1);
  for (const UnitLoop &inner : ArrayRef(nest.unitLoops).drop_front(loop))
    count = binary<arith::MulIOp>(
        count, binary<arith::CeilDivUIOp>(elementsAlong(nest, inner.axes), indexConstant(inner.step)));
  return count;
}

std::optional<unsigned> WorkDistribution::unitLoopOf(const CPUNest &nest, int64_t axis) {
  for (auto [number, loop] : llvm::enumerate(nest.unitLoops))
    if (loop.axes.front() == axis)
      return number;
  return std::nullopt;
}

bool WorkDistribution::hasUnitsInside(const CPUNest &nest, int64_t axis) {
  std::optional<unsigned> number = unitLoopOf(nest, axis);
  return number && *number + 1 < nest.unitLoops.size();
}

// Over the iterations of a loop with others inside that have units, with the part of each that the units are.
LogicalResult WorkDistribution::overUnits(const CPUNest &nest, int64_t axis, UnitRange units,
                                          function_ref<LogicalResult(Value, UnitRange)> body) {
  // If an inner axis is empty there are no units.
  Value inside = binary<arith::MaxUIOp>(unitsFrom(nest, *unitLoopOf(nest, axis) + 1), indexConstant(1));
  Value from = binary<arith::DivUIOp>(units.begin, inside);
  Value to = binary<arith::CeilDivUIOp>(units.end, inside);
  return emitLoop(from, to, indexConstant(1), [&](Value index) {
    Value first = binary<arith::MulIOp>(index, inside);
    Value begin = binary<arith::SubIOp>(binary<arith::MaxUIOp>(units.begin, first), first);
    Value left = binary<arith::SubIOp>(units.end, first);
    return body(index, {begin, binary<arith::MinUIOp>(left, inside)});
  });
}

// Bounds of a loop inside which no loop has units.
std::pair<Value, Value> WorkDistribution::boundsOf(const CPUNest &nest, ArrayRef<int64_t> axes,
                                                   UnitRange units) {
  if (axes.front() == nest.range.axis)
    return {nest.range.lower, nest.range.upper};
  Value size = elementsAlong(nest, axes);
  std::optional<unsigned> number = unitLoopOf(nest, axes.front());
  if (!number)
    return {indexConstant(0), size};
  int64_t step = nest.unitLoops[*number].step;
  if (step == 1)
    return {units.begin, units.end};
  Value lower = binary<arith::MulIOp>(units.begin, indexConstant(step));
  Value upper = binary<arith::MulIOp>(units.end, indexConstant(step));
  return {lower, binary<arith::MinUIOp>(upper, size)};
}
