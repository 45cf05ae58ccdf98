// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Prefetches of operands and results that are larger than the second-level cache, so that memory is busy
// during computation. In a kernel over rows, the last reduction along a row prefetches the cache lines of its
// results. The loop with the most work prefetches the next row: the last reduction if it caches values,
// otherwise the loop that stores. A tile of a contraction prefetches the rows of the next one, and what it
// is combined with itself.

#include "Prefetcher.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static bool isLarge(Type type, ArrayRef<int64_t> space) {
  return isLargerThan(type, kCore.secondLevelBytes) && cast<RankedTensorType>(type).getShape() == space;
}

SmallVector<Value> Prefetcher::largeInputs(const CPUNest &space) {
  SmallVector<Value> inputs;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isLarge(argument.getType(), space.shape))
      inputs.push_back(argument);
  return inputs;
}

void Prefetcher::choosePrefetched(const CPUNest &space) {
  rowCache.passesLeft = 0;
  nextRowPrefetched = false;
  prefetchedInputs.clear();
  prefetchedResults.clear();
  for (Value input : largeInputs(space))
    prefetchedInputs.push_back(buffers.find(input)->second);
  for (auto [buffer, type] : llvm::zip_equal(results, kernel.getResultTypes()))
    if (isLarge(type, space.shape))
      prefetchedResults.push_back(buffer);
}

// Prefetches the cache lines of a vector, `rowsAhead` rows after the position.
void Prefetcher::prefetchCacheLines(const Buffer &buffer, const Position &position, int64_t rowsAhead,
                                    bool toWrite) {
  int64_t step;
  Value indices, index = memoryAccess.linearIndex(buffer, position, step, indices);
  Value first =
      binary<arith::AddIOp>(index, binary<arith::MulIOp>(buffer.sizes.back(), indexConstant(rowsAhead)));
  int64_t bytes = memoryBytes(buffer.element);
  for (int64_t byte = 0; byte < lanes * bytes; byte += kCore.lineBytes) {
    Value line = binary<arith::AddIOp>(first, indexConstant(byte / bytes));
    LLVM::Prefetch::create(builder, loc, memoryAccess.pointerAt(buffer, line), /*rw=*/toWrite, kFirstLevel,
                           /*cache=*/1);
  }
}

// Prefetches the cache line `bytes` after the position.
void Prefetcher::prefetch(const Buffer &buffer, const Position &position, int64_t bytes, int32_t level) {
  int64_t step;
  Value indices, index = memoryAccess.linearIndex(buffer, position, step, indices);
  Value line = binary<arith::AddIOp>(index, indexConstant(bytes / memoryBytes(buffer.element)));
  LLVM::Prefetch::create(builder, loc, memoryAccess.pointerAt(buffer, line), /*rw=*/0, level,
                         /*cache=*/1);
}

// Called in the loop of a reduction, at the vector that starts at `element` of the row.
void Prefetcher::prefetchInReduction(linalg::GenericOp sum, Value element) {
  SmallVector<unsigned> reduced;
  sum.getReductionDims(reduced);
  if (rowCache.passesLeft != 1 || prefetchedResults.empty() || reduced.size() != 1 ||
      ArrayRef<int64_t>(prefetchedResults.front().shape) != ArrayRef<int64_t>(sum.getStaticLoopRanges()) ||
      reduced.front() + 1 != prefetchedResults.front().shape.size())
    return;
  Position position(rowCache.savedRow);
  position.push_back({element, 1, nullptr});
  for (const Buffer &result : prefetchedResults)
    prefetchCacheLines(result, position, /*rowsAhead=*/0, /*toWrite=*/true);
  if (rowCache.saved.empty())
    return;
  nextRowPrefetched = true;
  for (const Buffer &input : prefetchedInputs)
    prefetchCacheLines(input, position, /*rowsAhead=*/1, /*toWrite=*/false);
}

// Called in the loop that stores the results of a row.
void Prefetcher::prefetchNextRow(ArrayRef<Position> positions) {
  if (lanes == 1 || nextRowPrefetched)
    return;
  for (const Buffer &input : prefetchedInputs)
    for (const Position &position : positions)
      prefetchCacheLines(input, position, /*rowsAhead=*/1, /*toWrite=*/false);
}

// A loop that reads a cache line of each of `lanes` rows in turn, at element `first` of them. Rows are a page
// or more apart, which the hardware prefetcher does not follow, so a large part of a page is prefetched for
// one row after the other: `lanes` lines at each step. Along all loops that differ between lanes, the next
// row is the next index.
void Prefetcher::prefetchRowsAhead(const Buffer &buffer, AffineMap map, ArrayRef<Index> loops, unsigned along,
                                   Value first) {
  int64_t perLine = kCore.lineBytes / memoryBytes(buffer.element);
  Value line = indexConstant(perLine), span = indexConstant(lanes * perLine);
  Value row = binary<arith::RemUIOp>(binary<arith::DivUIOp>(first, line), indexConstant(lanes));
  SmallVector<Index> ahead(loops);
  for (Index &index : ahead)
    if (!index.isUniform())
      index = {binary<arith::AddIOp>(index.base, row), 0, nullptr};
  Value number = binary<arith::AddIOp>(binary<arith::DivUIOp>(first, span), indexConstant(1));
  ahead[along] = {binary<arith::MulIOp>(number, span), 0, nullptr};
  Position position = maps.apply(map, ahead);
  for (int64_t i = 0; i < lanes; ++i)
    prefetch(buffer, position, i * kCore.lineBytes, kSecondLevel);
}

// Called in the K loop of interleaved chains whose operand is contiguous along K, at step `first`.
void Prefetcher::prefetchOperandsAhead(linalg::GenericOp generic, ArrayRef<Index> loops, Value first) {
  constexpr int64_t kLinesAtOnce = 16;
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  for (OpOperand *operand : transposedOperands.operandsToTranspose(generic, loops)) {
    auto found = buffers.find(operand->get());
    if (found == buffers.end()) // computed inside the kernel
      continue;
    // A step of the loop reads a cache line of each row; after as many steps as rows the next span follows.
    int64_t perLine = kCore.lineBytes / memoryBytes(found->second.element);
    if (productGroups.groupSize(generic) == 1 && isFromMemory(operand->get().getType()) && perLine == lanes &&
        lanes == kLinesAtOnce)
      prefetchRowsAhead(found->second, generic.getMatchingIndexingMap(operand), loops, reduced.front(),
                        first);
  }
}

// Called in the loop over squares of steps and chains of a running reduction, at the step `first`.
void Prefetcher::prefetchChainsAhead(linalg::GenericOp scan, ArrayRef<Index> loops, unsigned along,
                                     Value first) {
  OpOperand *operand = scan.getDpsInputOperand(0);
  auto found = buffers.find(operand->get());
  if (found != buffers.end() && isLargerThan(operand->get().getType(), kCore.lastLevelBytes) &&
      kCore.lineBytes == lanes * memoryBytes(found->second.element))
    prefetchRowsAhead(found->second, scan.getMatchingIndexingMap(operand), loops, along, first);
}

// If the cached block of the right operand has few columns, the tiles of rows follow each other so fast that
// the CPU waits for the operand of each: the hardware prefetcher does not run from one tile to the next.
bool Prefetcher::hasNarrowBlocks(int64_t sizeK, int64_t elementBytes) {
  constexpr int64_t kFewColumns = 64;
  return !ShapedType::isDynamic(sizeK) && sizeK * elementBytes * kFewColumns >= tiles.blockBytes;
}

// Whether the positions are rows and columns of a sum along the last loop. Rows at computed indices do not
// follow each other.
bool Prefetcher::isTile(linalg::GenericOp product, ArrayRef<SmallVector<Index>> loops) {
  size_t rank = loops.front().size();
  return lanes > 1 && rank >= 3 && product.getNumReductionLoops() == 1 &&
         product.getIteratorTypesArray().back() == utils::IteratorType::reduction &&
         llvm::all_of(loops, [&](ArrayRef<Index> each) { return each[rank - 3].isUniform(); });
}

// The left operand of a tile: it has the rows, not the columns, and is contiguous along K.
OpOperand *Prefetcher::leftOperand(linalg::GenericOp product, unsigned rowLoop) {
  for (OpOperand *operand : product.getDpsInputOperands()) {
    AffineMap map = product.getMatchingIndexingMap(operand);
    if (buffers.count(operand->get()) && map.isProjectedPermutation() && map.isFunctionOfDim(rowLoop) &&
        !map.isFunctionOfDim(rowLoop + 1) && map.isFunctionOfDim(rowLoop + 2) &&
        map.getResults().back() == builder.getAffineDimExpr(rowLoop + 2))
      return operand;
  }
  return nullptr;
}

// Prefetches as many elements of the rows of the next tile as this tile has read.
void Prefetcher::prefetchNextTile(linalg::GenericOp product, ArrayRef<SmallVector<Index>> loops,
                                  Value indexK) {
  unsigned rowLoop = loops.front().size() - 3;
  OpOperand *left = isTile(product, loops) ? leftOperand(product, rowLoop) : nullptr;
  if (!left)
    return;
  const Buffer &buffer = buffers.find(left->get())->second;
  SmallVector<int64_t> sizes = product.getStaticLoopRanges();
  llvm::SmallDenseSet<Value> rows;
  for (const SmallVector<Index> &each : loops)
    rows.insert(each[rowLoop].base);
  int64_t bytes = memoryBytes(buffer.element), count = rows.size(), perLine = kCore.lineBytes / bytes;
  if (!isLargerThan(left->get().getType(), tiles.straightBytes) || sizes[rowLoop] <= count ||
      !hasNarrowBlocks(sizes.back(), bytes))
    return;
  // One cache line per step: each row gets at least one prefetch in the steps that a line covers.
  Value turn =
      binary<arith::RemUIOp>(indexK, indexConstant(std::min<int64_t>(llvm::PowerOf2Ceil(count), perLine)));
  Value line = binary<arith::SubIOp>(indexK, binary<arith::RemUIOp>(indexK, indexConstant(perLine)));
  SmallVector<Index> next(loops.front());
  next.back() = {line, 0, nullptr};
  Value row = binary<arith::AddIOp>(next[rowLoop].base, turn);
  next[rowLoop] = {binary<arith::AddIOp>(row, indexConstant(count)), 0, nullptr};
  int64_t step;
  Value indices, index = memoryAccess.linearIndex(
                     buffer, maps.apply(product.getMatchingIndexingMap(left), next), step, indices);
  LLVM::Prefetch::create(builder, loc, memoryAccess.pointerAt(buffer, index), /*rw=*/0, kSecondLevel,
                         /*cache=*/1);
}

// The arguments that the kernel combines with the result of the product, element by element. None if they may
// be in the last-level cache, from which they arrive in time.
SmallVector<Value> Prefetcher::combinedWith(linalg::GenericOp product) {
  SmallVector<int64_t> space = product.getStaticLoopRanges();
  space.pop_back();
  SmallVector<Value> inputs;
  int64_t bytes = 0;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isLarge(argument.getType(), space) && !llvm::is_contained(product.getDpsInputs(), argument)) {
      auto type = cast<RankedTensorType>(argument.getType());
      bytes += type.getNumElements() * memoryBytes(type.getElementType());
      inputs.push_back(argument);
    }
  return bytes > kCore.lastLevelBytes ? inputs : SmallVector<Value>();
}

// Prefetches the elements that this tile is combined with once it is computed: the loop over K waits for
// nothing, the code behind it would wait for memory. A step takes one vector of each argument, or some if
// there are fewer steps than vectors in the tile.
void Prefetcher::prefetchCombined(linalg::GenericOp product, ArrayRef<SmallVector<Index>> loops,
                                  Value indexK) {
  unsigned rank = loops.front().size(), rowLoop = rank - 3, columnLoop = rank - 2;
  if (!isTile(product, loops) ||
      llvm::any_of(loops, [&](ArrayRef<Index> each) { return each[columnLoop].step != 1; }))
    return;
  llvm::SmallSetVector<Value, 8> rows, columns;
  for (const SmallVector<Index> &each : loops) {
    rows.insert(each[rowLoop].base);
    columns.insert(each[columnLoop].base);
  }
  SmallVector<Value> inputs = combinedWith(product);
  int64_t count = rows.size() * columns.size(), steps = product.getStaticLoopRanges().back();
  if (inputs.empty() || count != int64_t(loops.size()) || steps <= 0) // K is dynamic or has no step
    return;
  int64_t inStep = llvm::divideCeil(count, steps);
  for (int64_t i = 0; i < inStep; ++i) {
    Value number =
        binary<arith::AddIOp>(binary<arith::MulIOp>(indexK, indexConstant(inStep)), indexConstant(i));
    number = binary<arith::MinUIOp>(number, indexConstant(count - 1));
    Value row = binary<arith::DivUIOp>(number, indexConstant(columns.size()));
    Value column = binary<arith::RemUIOp>(number, indexConstant(columns.size()));
    SmallVector<Index> at(loops.front());
    at[rowLoop] = {binary<arith::AddIOp>(rows.front(), row), 0, nullptr};
    at[columnLoop] = {
        binary<arith::AddIOp>(columns.front(), binary<arith::MulIOp>(column, indexConstant(lanes))), 0,
        nullptr};
    Position position(ArrayRef(at).drop_back());
    for (Value input : inputs)
      prefetchCacheLines(buffers.find(input)->second, position, /*rowsAhead=*/0, /*toWrite=*/false);
  }
}
