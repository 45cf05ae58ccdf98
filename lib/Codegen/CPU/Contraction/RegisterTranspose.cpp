// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions whose right operand is contiguous along K (matrix times vector, x * transposed W with few
// rows). A tile of columns loads a square block of that operand, one vector along K per column, and
// transposes it in registers. Each of its K steps is then a vector of columns. Nothing is written to memory
// and nothing is gathered, and every output keeps its own ascending chain.

#include "RegisterTranspose.h"
#include "../Movement/VectorShuffles.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The prefetch distance of each row of a block, into the second-level cache. Zen 4 is as fast with 128 as
// with 1024 bytes, and a fifth slower with prefetches into the first level.
static constexpr int64_t kBytesAhead = 1024;

// The axis along which lanes are indexed.
template <typename Loops> static auto laneLoop(Loops &&loops) {
  return llvm::find_if(loops, [](const Index &index) { return index.step != 0; });
}

// A vector of elements along K, or of groups of them.
FailureOr<Value> RegisterTranspose::loadAlongK(OpOperand *operand, Position position) {
  int64_t group = productGroups.groupSize(cast<linalg::GenericOp>(operand->getOwner()));
  if (group == 1)
    return evaluator.evaluateOne(operand->get(), position);
  if (!buffers.count(operand->get()))
    return dotProducts.convertPairs(operand, position);
  const Buffer &buffer = buffers.find(operand->get())->second;
  if (group == kBF16DotProduct.group)
    return memoryAccess.load(dotProducts.inPairs(buffer), position);
  return byteGroups.groupAt(buffer, position, position.size() - 1);
}

// One vector along K from `step` on for each of `lanes` columns. `active` says which steps exist; null if all
// do. Columns past the last one repeat it.
FailureOr<SmallVector<Value>> RegisterTranspose::loadBlock(OpOperand *operand, ArrayRef<Index> loops,
                                                           Value step, Value active) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap map = generic.getMatchingIndexingMap(operand);
  SmallVector<Index> inner(loops);
  auto lane = laneLoop(inner);
  Value first = lane->base;
  Value last =
      mask ? binary<arith::SubIOp>(reductionLoops.sizeOf(generic, lane - inner.begin()), indexConstant(1))
           : Value();
  Value source = convertedFrom(operand->get());
  source = source ? source : operand->get();
  bool prefetches = buffers.count(source) && isFromMemory(source.getType());
  WithLanes alongK(context, lanes, active);
  inner[*singleReduction(generic)] = {step, 1, nullptr};
  SmallVector<Value> rows;
  for (int64_t i = 0; i < lanes; ++i) {
    Value column = binary<arith::AddIOp>(first, indexConstant(i));
    *lane = {last ? binary<arith::MinUIOp>(column, last) : column, 0, nullptr};
    Position position = maps.apply(map, inner);
    FailureOr<Value> row = loadAlongK(operand, position);
    if (failed(row))
      return failure();
    rows.push_back(toMemory(laneValues.splat(*row, lanes)));
    if (int64_t group = productGroups.groupSize(generic); group > 1 && prefetches)
      position.back().base = binary<arith::MulIOp>(position.back().base, indexConstant(group));
    if (prefetches)
      prefetcher.prefetch(buffers.lookup(source), position, kBytesAhead, Prefetcher::kSecondLevel);
  }
  return rows;
}

// Loads and transposes a block of the operand: `lanes` columns by these steps of K. The steps are then found
// by transposedValue.
LogicalResult RegisterTranspose::transposeBlock(OpOperand *operand, ArrayRef<Index> loops,
                                                ArrayRef<Value> steps, Value active) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  FailureOr<SmallVector<Value>> rows = loadBlock(operand, loops, steps.front(), active);
  if (failed(rows))
    return failure();
  transposeInRegisters(builder, loc, *rows);
  SmallVector<Index> inner(loops);
  bool inGroups = productGroups.groupSize(generic) > 1;
  Type element = inGroups ? builder.getI32Type() : getElementTypeOrSelf(operand->get().getType());
  for (auto [step, row] : llvm::zip(steps, *rows)) {
    inner[*singleReduction(generic)] = {step, 0, nullptr};
    Position position = maps.apply(generic.getMatchingIndexingMap(operand), inner);
    transposedOperands.blocks[{operand, {position.begin(), position.end()}}] = fromMemory(row, element);
  }
  return success();
}

// Blocks of all operands of one position, unless an earlier position has transposed the same ones.
LogicalResult RegisterTranspose::transposeOperands(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                   ArrayRef<Value> steps, Value active) {
  SmallVector<Index> start(loops);
  start[*singleReduction(generic)] = {steps.front(), 0, nullptr};
  for (OpOperand *operand : transposedOperands.operandsToTranspose(generic, loops))
    if (!transposedOperands.transposedValue(operand, start) &&
        failed(transposeBlock(operand, loops, steps, active)))
      return failure();
  return success();
}

using Columns = llvm::MapVector<Value, SmallVector<size_t>>;

// The positions by their first column. Positions of one vector of columns use the same transposed blocks.
static Columns byFirstColumn(ArrayRef<SmallVector<Index>> loops) {
  Columns columns;
  for (auto [i, position] : llvm::enumerate(loops))
    columns[laneLoop(position)->base].push_back(i);
  return columns;
}

// Whether two positions differ in their lanes alone.
static bool areOfOneRow(ArrayRef<Index> a, ArrayRef<Index> b) {
  return llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
    const auto &[x, y] = pair;
    return x.step != 0 ? y.step == x.step : x.base == y.base && y.step == 0;
  });
}

// Whether all vectors of columns do the same: they have the same rows, and nothing but blocks to transpose is
// found by the column.
bool RegisterTranspose::canRotate(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops) {
  Columns columns = byFirstColumn(loops);
  size_t rows = columns.front().second.size();
  size_t column = laneLoop(loops.front()) - loops.front().begin();
  SmallVector<OpOperand *> blocks = transposedOperands.operandsToTranspose(generic, loops.front());
  return columns.size() > 1 &&
         llvm::all_of(columns,
                      [&](auto &group) {
                        return group.second.size() == rows &&
                               llvm::all_of(
                                   llvm::zip_equal(group.second, columns.front().second), [&](auto pair) {
                                     return areOfOneRow(loops[std::get<0>(pair)], loops[std::get<1>(pair)]);
                                   });
                      }) &&
         llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *operand) {
           return llvm::is_contained(blocks, operand) ||
                  !generic.getMatchingIndexingMap(operand).isFunctionOfDim(column);
         });
}

// All whole blocks of K, one vector of columns per iteration; the accumulators rotate after each. In
// straight-line code LLVM would load the blocks of all vectors at once, and out of a loop over the vectors
// alone it would move the loads that all of them share: both need more registers than there are.
FailureOr<SmallVector<Value>> RegisterTranspose::transposedRotating(linalg::GenericOp generic,
                                                                    ArrayRef<SmallVector<Index>> loops,
                                                                    ValueRange accumulators, Value lower,
                                                                    Value upper) {
  Columns columns = byFirstColumn(loops);
  SmallVector<Value> carried;
  for (auto &[column, positions] : columns) {
    carried.push_back(column);
    for (size_t i : positions)
      carried.push_back(accumulators[i]);
  }
  Value width = indexConstant(lanes), columnCount = indexConstant(columns.size());
  Value blocks = binary<arith::DivUIOp>(binary<arith::SubIOp>(upper, lower), width);
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), binary<arith::MulIOp>(blocks, columnCount),
                                 indexConstant(1), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value block = binary<arith::DivUIOp>(loop.getInductionVar(), columnCount);
  Value first = binary<arith::AddIOp>(lower, binary<arith::MulIOp>(block, width));
  size_t rows = columns.front().second.size();
  ValueRange arguments = loop.getRegionIterArgs();
  SmallVector<SmallVector<Index>> current;
  for (size_t i : columns.front().second) {
    current.push_back(loops[i]);
    laneLoop(current.back())->base = arguments.front();
  }
  auto next = transposedSteps(generic, current, arguments.slice(1, rows), first, lanes);
  if (failed(next))
    return failure();
  SmallVector<Value> rotated(arguments.drop_front(rows + 1));
  rotated.push_back(arguments.front());
  llvm::append_range(rotated, *next);
  scf::YieldOp::create(builder, loc, rotated);
  SmallVector<Value> results(accumulators.size());
  for (auto [group, columnAndPositions] : llvm::enumerate(columns))
    for (auto [row, i] : llvm::enumerate(columnAndPositions.second))
      results[i] = loop.getResult(group * (rows + 1) + 1 + row);
  return results;
}

// All whole blocks of K, all positions in an iteration.
FailureOr<SmallVector<Value>> RegisterTranspose::transposedUnrolled(linalg::GenericOp generic,
                                                                    ArrayRef<SmallVector<Index>> loops,
                                                                    ValueRange accumulators, Value lower,
                                                                    Value upper) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(lanes), accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto next = transposedSteps(generic, loops, loop.getRegionIterArgs(), loop.getInductionVar(), lanes);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  return SmallVector<Value>(loop.getResults());
}

// `count` steps of all chains from `first` on.
FailureOr<SmallVector<Value>> RegisterTranspose::transposedSteps(linalg::GenericOp generic,
                                                                 ArrayRef<SmallVector<Index>> loops,
                                                                 ValueRange accumulators, Value first,
                                                                 int64_t count) {
  Scope scope(context);
  SmallVector<Value> steps;
  for (int64_t step = 0; step < count; ++step)
    steps.push_back(binary<arith::AddIOp>(first, indexConstant(step)));
  Value active = count < lanes ? laneValues.lanesBelow(indexConstant(count)) : Value();
  // An operand of this chain may itself be computed by a chain around it.
  TransposedOperands::Blocks outer = std::exchange(transposedOperands.blocks, {});
  llvm::scope_exit restore([&] { transposedOperands.blocks = std::move(outer); });
  SmallVector<Value> next(accumulators);
  for (auto &[column, positions] : byFirstColumn(loops)) {
    for (size_t i : positions)
      if (failed(transposeOperands(generic, loops[i], steps, active)))
        return failure();
    if (!active)
      prefetcher.prefetchOperandsAhead(generic, loops[positions.front()], first);
    for (Value step : steps)
      for (size_t i : positions)
        if (failed(chainSteps.step(generic, loops[i], step, MutableArrayRef(next).slice(i, 1))))
          return failure();
    transposedOperands.blocks.clear();
  }
  return next;
}

// `count` steps of the chains of one vector of columns, whose numbers are `positions`.
LogicalResult RegisterTranspose::partialSteps(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                              ArrayRef<size_t> positions, MutableArrayRef<Value> accumulators,
                                              Value first, Value count) {
  ArrayRef<Index> column = loops[positions.front()];
  OpOperand *operand = transposedOperands.operandsToTranspose(generic, column).front();
  FailureOr<SmallVector<Value>> rows = loadBlock(operand, column, first, laneValues.lanesBelow(count));
  if (failed(rows))
    return failure();
  transposeInRegisters(builder, loc, *rows);
  auto vectorType = cast<VectorType>(rows->front().getType());
  Buffer block{
      stackMemory.allocate(vectorType.getElementType(), lanes * lanes), vectorType.getElementType(), {}, {}};
  int64_t bytes = lanes * memoryBytes(vectorType.getElementType());
  auto slot = [&](Value step) {
    return memoryAccess.pointerAt(block, binary<arith::MulIOp>(step, indexConstant(lanes)));
  };
  for (auto [step, row] : llvm::enumerate(*rows))
    LLVM::StoreOp::create(builder, loc, row, slot(indexConstant(step)), std::min(bytes, kCore.lineBytes));
  SmallVector<Value> carried;
  for (size_t i : positions)
    carried.push_back(accumulators[i]);
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), count, indexConstant(1), carried);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Scope scope(context);
    Value step = binary<arith::AddIOp>(first, loop.getInductionVar());
    Value row = LLVM::LoadOp::create(builder, loc, vectorType, slot(loop.getInductionVar()),
                                     std::min(bytes, kCore.lineBytes));
    SmallVector<Index> inner(column);
    inner[*singleReduction(generic)] = {step, 0, nullptr};
    Position at = maps.apply(generic.getMatchingIndexingMap(operand), inner);
    transposedOperands.blocks[{operand, {at.begin(), at.end()}}] =
        fromMemory(row, getElementTypeOrSelf(operand->get().getType()));
    SmallVector<Value> next(loop.getRegionIterArgs());
    for (auto [number, i] : llvm::enumerate(positions))
      if (failed(chainSteps.step(generic, loops[i], step, MutableArrayRef(next).slice(number, 1))))
        return failure();
    scf::YieldOp::create(builder, loc, next);
    transposedOperands.blocks.clear();
  }
  for (auto [number, i] : llvm::enumerate(positions))
    accumulators[i] = loop.getResult(number);
  return success();
}

FailureOr<SmallVector<Value>> RegisterTranspose::wholeBlocks(linalg::GenericOp generic,
                                                             ArrayRef<SmallVector<Index>> loops,
                                                             ArrayRef<Value> accumulators, Value lower,
                                                             Value upper) {
  return canRotate(generic, loops) ? transposedRotating(generic, loops, accumulators, lower, upper)
                                   : transposedUnrolled(generic, loops, accumulators, lower, upper);
}

// `count` steps from `first` on, fewer than lanes: the transposed blocks are in memory, and a loop runs over
// the steps that exist.
FailureOr<SmallVector<Value>> RegisterTranspose::partialBlock(linalg::GenericOp generic,
                                                              ArrayRef<SmallVector<Index>> loops,
                                                              ValueRange accumulators, Value first,
                                                              Value count) {
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, count, indexConstant(0));
  auto branch = scf::IfOp::create(builder, loc, accumulators.getTypes(), some, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, accumulators);
  builder.setInsertionPointToStart(branch.thenBlock());
  Scope scope(context);
  TransposedOperands::Blocks outer = std::exchange(transposedOperands.blocks, {});
  llvm::scope_exit restore([&] { transposedOperands.blocks = std::move(outer); });
  SmallVector<Value> next(accumulators);
  for (auto &[column, positions] : byFirstColumn(loops))
    if (failed(partialSteps(generic, loops, positions, next, first, count)))
      return failure();
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(branch.getResults());
}

// Whether reading the transposed operand takes longer than computing with it: each block is used by few rows.
static bool isBoundByMemory(const TileTable &tiles, ArrayRef<SmallVector<Index>> loops, Type sum) {
  constexpr int64_t kPartOfRegisters = 8;
  int64_t registers = std::max<int64_t>(1, memoryBytes(sum) / kLaneBytes);
  int64_t rows = byFirstColumn(loops).front().second.size();
  return kPartOfRegisters * rows * registers <= tiles.registers;
}

// The steps from the position to a cache line of the operand that is transposed; null if it is not to be
// aligned.
Value RegisterTranspose::stepsToLine(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                     Value lower, Value upper) {
  SmallVector<OpOperand *> operands = transposedOperands.operandsToTranspose(generic, loops.front());
  Type sum = getElementTypeOrSelf(generic.getResult(0).getType());
  if (operands.size() != 1 || productGroups.groupSize(generic) != 1 || !isBoundByMemory(tiles, loops, sum) ||
      !buffers.count(operands.front()->get()) || !lineAlignment.isWorthAligning(operands.front()->get()))
    return {};
  SmallVector<Index> start(loops.front());
  laneLoop(start)->step = 0;
  start[*singleReduction(generic)] = {lower, 0, nullptr};
  Position position = maps.apply(generic.getMatchingIndexingMap(operands.front()), start);
  return lineAlignment.elementsToLine(buffers.find(operands.front()->get())->second, position,
                                      binary<arith::SubIOp>(upper, lower));
}

// As chain(), with `lanes` steps of K in one iteration. Blocks begin at cache lines if the operand is to be
// aligned.
FailureOr<SmallVector<Value>> RegisterTranspose::transposedChain(linalg::GenericOp generic,
                                                                 ArrayRef<SmallVector<Index>> loops,
                                                                 ArrayRef<Value> start, Value lower,
                                                                 Value upper) {
  Value head = stepsToLine(generic, loops, lower, upper);
  if (!head)
    return unalignedChain(generic, loops, start, lower, upper);
  auto accumulators = partialBlock(generic, loops, start, lower, head);
  if (failed(accumulators))
    return failure();
  Value aligned = binary<arith::AddIOp>(lower, head);
  Value rest = binary<arith::RemUIOp>(binary<arith::SubIOp>(upper, aligned), indexConstant(lanes));
  Value middle = binary<arith::SubIOp>(upper, rest);
  accumulators = wholeBlocks(generic, loops, *accumulators, aligned, middle);
  if (failed(accumulators))
    return failure();
  return partialBlock(generic, loops, *accumulators, middle, rest);
}

// If K is static, the remainder of K has masked loads; otherwise its steps gather.
FailureOr<SmallVector<Value>> RegisterTranspose::unalignedChain(linalg::GenericOp generic,
                                                                ArrayRef<SmallVector<Index>> loops,
                                                                ArrayRef<Value> start, Value lower,
                                                                Value upper) {
  Value rest = binary<arith::RemUIOp>(binary<arith::SubIOp>(upper, lower), indexConstant(lanes));
  Value middle = binary<arith::SubIOp>(upper, rest);
  auto accumulators = wholeBlocks(generic, loops, start, lower, middle);
  if (failed(accumulators))
    return failure();
  int64_t k = generic.getStaticLoopRanges()[*singleReduction(generic)];
  int64_t group = productGroups.groupSize(generic);
  if (!ShapedType::isDynamic(k))
    k /= group;
  OrderAttr order = kernel.getOrderAttr();
  bool blocksAreWhole = !order || order.hasLanes() || group == kByteDotProduct.group ||
                        order.getPartLength() % (2 * lanes) == 0;
  if (ShapedType::isDynamic(k) || !blocksAreWhole)
    return chainSteps.chain(generic, loops, *accumulators, middle, upper);
  if (k % lanes == 0)
    return accumulators;
  // Only the last block of the order has a remainder.
  Value some = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, rest, indexConstant(0));
  auto branch =
      scf::IfOp::create(builder, loc, TypeRange(ValueRange(*accumulators)), some, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, *accumulators);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto last = transposedSteps(generic, loops, *accumulators, middle, k % lanes);
  if (failed(last))
    return failure();
  scf::YieldOp::create(builder, loc, *last);
  return SmallVector<Value>(branch.getResults());
}
