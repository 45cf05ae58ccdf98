// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions and other sums into every point of a result: tiles of rows and vectors that stay in registers
// over the whole reduction, in an order in which the operands stay in the caches.

#include "KernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// How many rows and vectors of a reduction run in one loop.
void KernelEmitter::chooseBlock(Nest &nest) {
  bool reduces = llvm::any_of(nest.roots, [&](Value root) {
    return dependsOn(root, [](linalg::GenericOp generic) { return generic.getNumReductionLoops() > 0; });
  });
  int64_t axis = nest.vectorize ? laneAxisOf(nest) : -1;
  if (!reduces || axis < 0)
    return;
  auto [rows, vectors] =
      chooseRegisterTile(tiles, axis > 0 ? nest.shape[axis - 1] : 1, nest.shape[axis], vectorLanes);
  vectors = std::min(vectors, mostTransposedVectors(nest, axis));
  nest.rows = rows;
  nest.vectors = vectors;
  nest.blocked = axis > 0;
}

// The reduced size of the first contraction that the nest computes, 0 when it is not known.
static int64_t reducedSize(ArrayRef<Value> roots) {
  int64_t size = 0;
  for (Value root : roots)
    dependsOn(root, [&](linalg::GenericOp generic) {
      SmallVector<unsigned> dims;
      generic.getReductionDims(dims);
      if (dims.size() == 1)
        size = generic.getStaticLoopRanges()[dims.front()];
      return size != 0;
    });
  return std::max<int64_t>(size, 0);
}

// For the host, which decides whether threads are worth while.
void KernelEmitter::recordDepth(ValueRange roots) {
  int64_t depth = 0;
  for (Value root : roots)
    depth += reducedSize(root);
  if (depth > 0)
    function->setAttr("ad.depth", builder.getI64IntegerAttr(depth));
}

// Columns whose part of the right operand stays in the cache while all rows pass: whole tiles.
int64_t KernelEmitter::blockColumns(const Nest &nest) {
  int64_t tile = nest.vectors * vectorLanes;
  int64_t depth = reducedSize(nest.roots);
  if (depth == 0)
    return 0;
  int64_t element = memoryBytes(results.front().element);
  return std::max<int64_t>(1, tiles.blockBytes / (depth * element * tile)) * tile;
}

// Whether threads may take whole tiles of rows only, which spares the code for less: tiles divide the rows,
// and there are enough of them for many threads.
static bool takesWholeTiles(int64_t size, int64_t rows) {
  constexpr int64_t tilesForThreads = 32;
  return !ShapedType::isDynamic(size) && size % rows == 0 && size / rows >= tilesForThreads;
}

// All columns of a block pass over one tile of rows before the next: the rows stay in the first-level cache.
LogicalResult KernelEmitter::emitBlocks(const Nest &nest, Value lower, Value upper,
                                        ArrayRef<Position> positions, Store store) {
  int64_t rowAxis = positions.front().size();
  Value columns = nest.sizes[rowAxis + 1];
  int64_t width = blockColumns(nest);
  int64_t known = nest.shape[rowAxis + 1];
  bool oneBlock = width == 0 || (!ShapedType::isDynamic(known) && known <= width);
  Value step = oneBlock ? columns : indexConstant(width);
  SmallVector<PackedOperand> packed = packedOperandsOf(nest, oneBlock ? known : width);
  if (takesWholeTiles(nest.shape[rowAxis], nest.rows))
    for (Value *bound : {&lower, &upper})
      *bound = binary<arith::SubIOp>(*bound, binary<arith::RemUIOp>(*bound, indexConstant(nest.rows)));
  Value zero = indexConstant(0);
  auto block = [&](Value start) -> LogicalResult {
    Value end = oneBlock ? columns : binary<arith::MinUIOp>(binary<arith::AddIOp>(start, step), columns);
    Packing scope(*this);
    bool fills = positions.size() == 1 &&
                 llvm::any_of(packed, [&](PackedOperand &operand) { return canFill(operand); });
    for (PackedOperand &operand : packed)
      if (!fills || !canFill(operand))
        pack(operand, positions.front(), start, end);
    Value first = lower;
    if (fills) {
      FailureOr<Value> left =
          emitFillingTile(nest, lower, upper, positions.front(), {start, end}, packed, store);
      if (failed(left))
        return failure();
      first = *left;
    }
    return emitRowTiles(nest, first, upper, positions,
                        [&](ArrayRef<Position> rows) { return emitLaneLoop(nest, start, end, rows, store); });
  };
  return oneBlock ? block(zero) : emitLoop(zero, columns, step, block);
}

// How many whole tiles to take of `count` rows, when as many of one row less take the rest: 197 rows are 22
// tiles of 8 and 3 of 7, which keep the processor as busy. Null when tiles are short, or divide the rows.
std::pair<Value, Value> KernelEmitter::evenTiles(const Nest &nest, int64_t size, Value count) {
  int64_t rows = nest.rows, less = rows - 1;
  if (rows < 4 || ShapedType::isDynamic(size) || size < rows * less || size % rows == 0)
    return {};
  Value wide = indexConstant(rows), narrow = indexConstant(less);
  Value rest = binary<arith::RemUIOp>(count, wide);
  Value missing = binary<arith::RemUIOp>(binary<arith::SubIOp>(wide, rest), wide);
  Value inNarrow = binary<arith::MulIOp>(missing, narrow);
  // A thread may have too few rows for this; then none are narrow.
  Value enough = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, inNarrow, count);
  inNarrow = builder.createOrFold<arith::SelectOp>(loc, enough, inNarrow, indexConstant(0));
  Value inWide = binary<arith::SubIOp>(count, inNarrow);
  return {binary<arith::SubIOp>(inWide, binary<arith::RemUIOp>(inWide, wide)), inNarrow};
}

// Tiles of rows; what is left over is halved until single rows are left.
LogicalResult KernelEmitter::emitRowTiles(const Nest &nest, Value lower, Value upper,
                                          ArrayRef<Position> positions, Store inRows) {
  auto tiles = [&](int64_t rows, Value covered) {
    Value middle = binary<arith::AddIOp>(lower, covered);
    LogicalResult result = emitLoop(lower, middle, indexConstant(rows), [&](Value base) {
      SmallVector<Position> extended;
      for (int64_t i = 0; i < rows; ++i)
        for (const Position &position : positions) {
          extended.push_back(position);
          extended.back().push_back({binary<arith::AddIOp>(base, indexConstant(i)), 0, nullptr});
        }
      return inRows(extended);
    });
    lower = middle;
    return result;
  };
  auto [inWide, inNarrow] =
      evenTiles(nest, nest.shape[positions.front().size()], binary<arith::SubIOp>(upper, lower));
  if (inWide && (failed(tiles(nest.rows, inWide)) || failed(tiles(nest.rows - 1, inNarrow))))
    return failure();
  if (takesWholeTiles(nest.shape[positions.front().size()], nest.rows))
    return tiles(nest.rows, binary<arith::SubIOp>(upper, lower));
  for (int64_t rows = inWide ? llvm::bit_floor<uint64_t>(nest.rows - 1) : nest.rows; rows >= 1;
       rows = llvm::bit_floor<uint64_t>(rows - 1)) {
    Value step = indexConstant(rows);
    Value count = binary<arith::SubIOp>(upper, lower);
    if (failed(tiles(rows, binary<arith::MulIOp>(binary<arith::DivUIOp>(count, step), step))))
      return failure();
    if (rows == 1)
      break;
  }
  return success();
}
