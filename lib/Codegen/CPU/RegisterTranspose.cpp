// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions whose right operand is contiguous along K (matrix times vector, x * transposed W with few
// rows). A tile of columns loads a square block of that operand, one vector along K per column, and
// transposes it in registers. Each of its K steps is then a vector of columns. Nothing is written to memory
// and nothing is gathered, and every output keeps its own ascending chain.

#include "CPUKernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The prefetch distance of each row of a block, into the second-level cache. Zen 4 is as fast with 128 as
// with 1024 bytes, and a fifth slower with prefetches into the first level.
static constexpr int64_t kBytesAhead = 1024;

// The only loop that the generic reduces over.
static std::optional<unsigned> singleReduction(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  return dims.size() == 1 ? std::optional(dims.front()) : std::nullopt;
}

// The axis along which lanes are indexed.
template <typename Loops> static auto laneLoop(Loops &&loops) {
  return llvm::find_if(loops, [](const Index &index) { return index.step != 0; });
}

// Whether elements that are adjacent along the last axis can be loaded as a vector: the tensor is an
// argument, or computed from arguments element by element.
bool RegisterTranspose::isContiguous(Value tensor) {
  if (buffers.count(tensor))
    return true;
  if (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    return isContiguous(cast.getSource());
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  return generic && isPointwise(generic) && llvm::all_of(generic.getDpsInputs(), [&](Value input) {
           return !isa<RankedTensorType>(input.getType()) || isContiguous(input);
         });
}

// Whether the operand is contiguous along K and its other axes are loops of the result, `columnLoop` among
// them.
bool RegisterTranspose::isContiguousAlongK(OpOperand *operand, unsigned columnLoop) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  std::optional<unsigned> k = singleReduction(generic);
  AffineMap map = generic.getMatchingIndexingMap(operand);
  if (vectorLanes == 1 || !k || !map.isProjectedPermutation() || map.getNumResults() < 2 ||
      map.getResults().back() != builder.getAffineDimExpr(*k) || !map.isFunctionOfDim(columnLoop))
    return false;
  int64_t group = emitter.dots.groupSize(generic);
  bool converts = group == kBF16DotProduct.group && convertedFrom(operand->get());
  return group == 1 || converts ? isContiguous(operand->get()) : buffers.count(operand->get());
}

// The maximum number of vectors of columns in a tile of the nest. Their accumulators and the transposed block
// have to fit registers; two vectors hide the latency of their chains, four are no faster. An operand from
// memory is read by few rows at a time, which the hardware prefetches.
int64_t RegisterTranspose::maxTransposedVectors(const Nest &nest, unsigned columnLoop) {
  constexpr int64_t kRowsOfTwoVectors = 6;
  int64_t rows = nest.rowCount(), maxVectors = tiles.vectors;
  auto limit = [&](linalg::GenericOp generic) {
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      bool fewRows = !ShapedType::isDynamic(rows) && rows <= tiles.rows;
      if (type && (fewRows || !type.hasStaticShape()) && isContiguousAlongK(operand, columnLoop))
        maxVectors = std::min<int64_t>(maxVectors,
                                       fewRows && rows <= kRowsOfTwoVectors && !isFromMemory(type) ? 2 : 1);
    }
    return false;
  };
  for (Value output : nest.outputs)
    dependsOn(output, limit);
  return maxVectors;
}

// The operands that this chain transposes in registers: lanes are indexed by one loop alone, which is not
// along the contiguous axis, and no packed copy exists.
SmallVector<OpOperand *> RegisterTranspose::operandsToTranspose(linalg::GenericOp generic,
                                                                ArrayRef<Index> loops) {
  SmallVector<OpOperand *> operands;
  auto isLane = [](const Index &index) { return !index.isUniform(); };
  auto lane = llvm::find_if(loops, isLane);
  if (lanes != vectorLanes || flat || lane == loops.end() || lane->lanes || lane->step != 1 ||
      llvm::count_if(loops, isLane) != 1)
    return operands;
  for (OpOperand *input : generic.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()) && !emitter.packing.packedOperands.count(input) &&
        isContiguousAlongK(input, lane - loops.begin()))
      operands.push_back(input);
  return operands;
}

// A vector of elements along K, or of groups of them.
FailureOr<Value> RegisterTranspose::loadAlongK(OpOperand *operand, Position position) {
  int64_t group = emitter.dots.groupSize(cast<linalg::GenericOp>(operand->getOwner()));
  if (group == 1)
    return emitter.evaluator.evaluateOne(operand->get(), position);
  if (!buffers.count(operand->get()))
    return emitter.dots.convertPairs(operand, position);
  const Buffer &buffer = buffers.find(operand->get())->second;
  if (group == kBF16DotProduct.group)
    return emitter.memoryAccess.load(emitter.dots.inPairs(buffer), position);
  return emitter.byteDots.groupAt(buffer, position, position.size() - 1);
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
  Value last = mask ? binary<arith::SubIOp>(emitter.reductions.loopSize(generic, lane - inner.begin()),
                                            indexConstant(1))
                    : Value();
  Value source = convertedFrom(operand->get());
  source = source ? source : operand->get();
  bool prefetches = buffers.count(source) && isFromMemory(source.getType());
  CPUKernelEmitter::WithLanes alongK(emitter, lanes, active);
  inner[*singleReduction(generic)] = {step, 1, nullptr};
  SmallVector<Value> rows;
  for (int64_t i = 0; i < lanes; ++i) {
    Value column = binary<arith::AddIOp>(first, indexConstant(i));
    *lane = {last ? binary<arith::MinUIOp>(column, last) : column, 0, nullptr};
    Position position = emitter.evaluator.apply(map, inner);
    FailureOr<Value> row = loadAlongK(operand, position);
    if (failed(row))
      return failure();
    rows.push_back(emitter.memoryAccess.toMemory(emitter.laneValues.splat(*row, lanes)));
    if (int64_t group = emitter.dots.groupSize(generic); group > 1 && prefetches)
      position.back().base = binary<arith::MulIOp>(position.back().base, indexConstant(group));
    if (prefetches)
      emitter.prefetcher.prefetch(buffers.lookup(source), position, kBytesAhead, Prefetcher::kSecondLevel);
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
  transposeInRegisters(*rows);
  SmallVector<Index> inner(loops);
  bool inGroups = emitter.dots.groupSize(generic) > 1;
  Type element = inGroups ? builder.getI32Type() : getElementTypeOrSelf(operand->get().getType());
  for (auto [step, row] : llvm::zip(steps, *rows)) {
    inner[*singleReduction(generic)] = {step, 0, nullptr};
    Position position = emitter.evaluator.apply(generic.getMatchingIndexingMap(operand), inner);
    transposed[{operand, {position.begin(), position.end()}}] = emitter.memoryAccess.fromMemory(row, element);
  }
  return success();
}

// Null where no block of the operand was transposed.
Value RegisterTranspose::transposedValue(OpOperand *operand, ArrayRef<Index> loops) {
  if (transposed.empty())
    return {};
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  Position position = emitter.evaluator.apply(generic.getMatchingIndexingMap(operand), loops);
  auto found = transposed.find({operand, {position.begin(), position.end()}});
  return found == transposed.end() ? Value() : found->second;
}

// Blocks of all operands of one position, unless an earlier position has transposed the same ones.
LogicalResult RegisterTranspose::transposeOperands(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                   ArrayRef<Value> steps, Value active) {
  SmallVector<Index> start(loops);
  start[*singleReduction(generic)] = {steps.front(), 0, nullptr};
  for (OpOperand *operand : operandsToTranspose(generic, loops))
    if (!transposedValue(operand, start) && failed(transposeBlock(operand, loops, steps, active)))
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
  SmallVector<OpOperand *> blocks = operandsToTranspose(generic, loops.front());
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
  CPUKernelEmitter::Scope scope(emitter);
  SmallVector<Value> steps;
  for (int64_t step = 0; step < count; ++step)
    steps.push_back(binary<arith::AddIOp>(first, indexConstant(step)));
  Value active = count < lanes ? emitter.packing.lanesBelow(indexConstant(count)) : Value();
  // An operand of this chain may itself be computed by a chain around it.
  TransposedBlocks outer = std::exchange(transposed, {});
  llvm::scope_exit restore([&] { transposed = std::move(outer); });
  SmallVector<Value> next(accumulators);
  for (auto &[column, positions] : byFirstColumn(loops)) {
    for (size_t i : positions)
      if (failed(transposeOperands(generic, loops[i], steps, active)))
        return failure();
    if (!active)
      emitter.prefetcher.prefetchRowsAhead(generic, loops[positions.front()], first);
    for (Value step : steps)
      for (size_t i : positions)
        if (failed(emitter.reductions.chainStep(generic, loops[i], step, MutableArrayRef(next).slice(i, 1))))
          return failure();
    transposed.clear();
  }
  return next;
}

// As chain(), with `lanes` steps of K in one iteration. If K is static, the remainder of K has masked
// loads; otherwise its steps gather.
FailureOr<SmallVector<Value>> RegisterTranspose::transposedChain(linalg::GenericOp generic,
                                                                 ArrayRef<SmallVector<Index>> loops,
                                                                 ArrayRef<Value> start, Value lower,
                                                                 Value upper) {
  Value width = indexConstant(lanes);
  Value rest = binary<arith::RemUIOp>(binary<arith::SubIOp>(upper, lower), width);
  Value middle = binary<arith::SubIOp>(upper, rest);
  auto accumulators = canRotate(generic, loops) ? transposedRotating(generic, loops, start, lower, middle)
                                                : transposedUnrolled(generic, loops, start, lower, middle);
  if (failed(accumulators))
    return failure();
  int64_t k = generic.getStaticLoopRanges()[*singleReduction(generic)];
  int64_t group = emitter.dots.groupSize(generic);
  if (!ShapedType::isDynamic(k))
    k /= group;
  OrderAttr order = kernel.getOrderAttr();
  bool blocksAreWhole =
      !order || order.isLanes() || group == kByteDotProduct.group || order.getLength() % (2 * lanes) == 0;
  if (ShapedType::isDynamic(k) || !blocksAreWhole)
    return emitter.reductions.plainChain(generic, loops, *accumulators, middle, upper);
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

// Result lane i is lane lanes[i] of the two vectors one after the other.
static Value shuffle(OpBuilder &builder, Location loc, Value a, Value b,
                     function_ref<int64_t(int64_t)> lane) {
  SmallVector<int64_t> lanes;
  for (int64_t i = 0, e = cast<VectorType>(a.getType()).getNumElements(); i < e; ++i)
    lanes.push_back(lane(i));
  return vector::ShuffleOp::create(builder, loc, a, b, lanes);
}

// The transposition of 32-bit elements that x86 does fastest. Two rounds of unpack instructions transpose 4 x
// 4 blocks inside lanes of 128 bits; further rounds gather the even and the odd 128-bit lanes of two vectors.
static void transpose32(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &rows) {
  int64_t count = rows.size();
  // Groups of `width` elements from the lower or upper half of each 128-bit lane of a and b, in turn.
  auto unpack = [&](Value a, Value b, int64_t width, bool upper) {
    return shuffle(builder, loc, a, b, [&](int64_t i) {
      int64_t group = i % 4 / width, within = i % width;
      int64_t source = i / 4 * 4 + (upper ? 2 : 0) + group / 2 * width + within;
      return source + (group % 2 ? count : 0);
    });
  };
  auto everySecond = [&](Value a, Value b, int64_t first) {
    return shuffle(builder, loc, a, b, [&](int64_t i) { return (2 * (i / 4) + first) * 4 + i % 4; });
  };
  for (int64_t i = 0; i < count; i += 4) {
    Value low01 = unpack(rows[i], rows[i + 1], 1, false), high01 = unpack(rows[i], rows[i + 1], 1, true);
    Value low23 = unpack(rows[i + 2], rows[i + 3], 1, false),
          high23 = unpack(rows[i + 2], rows[i + 3], 1, true);
    rows[i] = unpack(low01, low23, 2, false);
    rows[i + 1] = unpack(low01, low23, 2, true);
    rows[i + 2] = unpack(high01, high23, 2, false);
    rows[i + 3] = unpack(high01, high23, 2, true);
  }
  for (int64_t j = 0; j < 4; ++j) {
    SmallVector<Value> blocks;
    for (int64_t i = j; i < count; i += 4)
      blocks.push_back(rows[i]);
    for (int64_t rounds = llvm::Log2_64(blocks.size()); rounds > 0; --rounds) {
      SmallVector<Value> even, odd;
      for (size_t i = 0; i < blocks.size(); i += 2) {
        even.push_back(everySecond(blocks[i], blocks[i + 1], 0));
        odd.push_back(everySecond(blocks[i], blocks[i + 1], 1));
      }
      llvm::append_range(even, odd);
      blocks = std::move(even);
    }
    for (auto [lane, block] : llvm::enumerate(blocks))
      rows[4 * lane + j] = block;
  }
}

// As many vectors as they have lanes; vector i becomes lane i of all. Each round exchanges blocks of lanes
// between vectors whose numbers differ in one bit.
void RegisterTranspose::transposeInRegisters(SmallVectorImpl<Value> &rows) {
  int64_t count = rows.size();
  if (count >= 4 && getElementTypeOrSelf(rows.front()).getIntOrFloatBitWidth() == 32)
    return transpose32(builder, loc, rows);
  for (int64_t distance = count / 2; distance >= 1; distance /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < count; ++lane) {
      bool second = lane & distance;
      // Lane numbers of the pair's second vector start at `count`.
      low.push_back(second ? count + lane - distance : lane);
      high.push_back(second ? count + lane : lane + distance);
    }
    for (int64_t i = 0; i < count; ++i) {
      if (i & distance)
        continue;
      Value a = rows[i], b = rows[i + distance];
      rows[i] = vector::ShuffleOp::create(builder, loc, a, b, low);
      rows[i + distance] = vector::ShuffleOp::create(builder, loc, a, b, high);
    }
  }
}
