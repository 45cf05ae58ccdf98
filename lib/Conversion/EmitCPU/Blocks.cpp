// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions and other sums into every point of a result: tiles of rows and vectors that stay in registers
// over the whole reduction, in an order in which the operands stay in the caches.

#include "KernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

int64_t KernelEmitter::Nest::rowCount(int64_t laneAxis) const {
  int64_t count = 1;
  for (int64_t size : ArrayRef(shape).slice(laneAxis - rowAxes, rowAxes)) {
    if (ShapedType::isDynamic(size))
      return size;
    count *= size;
  }
  return count;
}

// How many axes before the lanes are rows of one block: the operands that lie along the lanes are the same
// for all of them, so that a tile may reach from one index of an outer axis into the next. Sizes of inner
// axes must be known.
int64_t KernelEmitter::rowAxesOf(const Nest &nest, int64_t laneAxis) {
  auto dependsOnAxis = [&](int64_t axis) {
    auto readsAlong = [&](linalg::GenericOp generic) {
      return llvm::any_of(generic.getDpsInputOperands(), [&](OpOperand *operand) {
        AffineMap map = generic.getMatchingIndexingMap(operand);
        return generic.getNumReductionLoops() > 0 && map.isFunctionOfDim(laneAxis) &&
               map.isFunctionOfDim(axis);
      });
    };
    return llvm::any_of(nest.roots, [&](Value root) { return dependsOn(root, readsAlong); });
  };
  int64_t axes = 1;
  while (axes < laneAxis && !ShapedType::isDynamic(nest.shape[laneAxis - axes]) &&
         nest.shape[laneAxis - axes] > 0 && !dependsOnAxis(laneAxis - axes - 1))
    ++axes;
  return axes;
}

// Row `base` + `offset` of the block as an index for each row axis. `base` is a multiple of `aligned`: where
// tiles and the innermost axis divide each other, the rows of a tile have one base and constant distances.
Position KernelEmitter::rowPosition(const Nest &nest, const Position &outer, Value base, int64_t offset,
                                    int64_t aligned) {
  Position position(outer);
  int64_t first = outer.size(), last = first + nest.rowAxes - 1;
  position.resize(last + 1, {indexConstant(0), 0, nullptr});
  int64_t outermost = last;
  for (int64_t axis = last - 1; axis >= first; --axis)
    if (nest.shape[axis] != 1)
      outermost = axis;
  for (int64_t axis = last; axis >= first; --axis) {
    int64_t size = nest.shape[axis];
    if (axis == outermost || size == 1) {
      if (axis == outermost)
        position[axis].base = binary<arith::AddIOp>(base, indexConstant(offset));
      continue;
    }
    Value extent = indexConstant(size);
    Value quotient = binary<arith::DivUIOp>(base, extent), rest = binary<arith::RemUIOp>(base, extent);
    if (aligned % size == 0) {
      position[axis].base = indexConstant(offset % size);
      base = quotient;
      offset /= size;
      aligned /= size;
    } else if (size % aligned == 0 && offset < aligned) {
      position[axis].base = binary<arith::AddIOp>(rest, indexConstant(offset));
      base = quotient;
      offset = 0;
      aligned = 1;
    } else {
      Value row = binary<arith::AddIOp>(base, indexConstant(offset));
      position[axis].base = binary<arith::RemUIOp>(row, extent);
      base = binary<arith::DivUIOp>(row, extent);
      offset = 0;
      aligned = 1;
    }
  }
  return position;
}

// How many rows and vectors of a reduction run in one loop.
void KernelEmitter::chooseBlock(Nest &nest) {
  bool reduces = llvm::any_of(nest.roots, [&](Value root) {
    return dependsOn(root, [](linalg::GenericOp generic) { return generic.getNumReductionLoops() > 0; });
  });
  int64_t axis = nest.vectorize ? laneAxisOf(nest) : -1;
  if (!reduces || axis < 0)
    return;
  nest.rowAxes = rowAxesOf(nest, axis);
  auto [rows, vectors] =
      chooseRegisterTile(tiles, axis > 0 ? nest.rowCount(axis) : 1, nest.shape[axis], vectorLanes);
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
  int64_t laneAxis = positions.front().size() + nest.rowAxes;
  Value columns = nest.sizes[laneAxis];
  int64_t width = blockColumns(nest);
  int64_t known = nest.shape[laneAxis];
  // The range is one of the outermost row axis.
  for (int64_t axis = laneAxis - nest.rowAxes + 1; axis < laneAxis; ++axis)
    for (Value *bound : {&lower, &upper})
      *bound = binary<arith::MulIOp>(*bound, nest.sizes[axis]);
  bool oneBlock = width == 0 || (!ShapedType::isDynamic(known) && known <= width);
  Value step = oneBlock ? columns : indexConstant(width);
  SmallVector<PackedOperand> packed = packedOperandsOf(nest, oneBlock ? known : width);
  if (takesWholeTiles(nest.rowCount(laneAxis), nest.rows))
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
  int64_t laneAxis = positions.front().size() + nest.rowAxes, count = nest.rowCount(laneAxis);
  // A divisor of every row at which a tile begins: whole tiles round the range to multiples of a tile, and a
  // tile that packs operands may have come before.
  int64_t inner = 1;
  for (int64_t axis = laneAxis - nest.rowAxes + 1; axis < laneAxis; ++axis)
    inner *= nest.shape[axis];
  int64_t begins = takesWholeTiles(count, nest.rows) ? nest.rows : std::gcd(inner, nest.rows);
  auto tiles = [&](int64_t rows, Value covered) {
    Value middle = binary<arith::AddIOp>(lower, covered);
    begins = std::gcd(begins, rows);
    LogicalResult result = emitLoop(lower, middle, indexConstant(rows), [&](Value base) {
      SmallVector<Position> extended;
      for (int64_t i = 0; i < rows; ++i)
        for (const Position &position : positions)
          extended.push_back(rowPosition(nest, position, base, i, begins));
      return inRows(extended);
    });
    lower = middle;
    return result;
  };
  auto [inWide, inNarrow] = evenTiles(nest, count, binary<arith::SubIOp>(upper, lower));
  if (inWide && (failed(tiles(nest.rows, inWide)) || failed(tiles(nest.rows - 1, inNarrow))))
    return failure();
  if (takesWholeTiles(count, nest.rows))
    return tiles(nest.rows, binary<arith::SubIOp>(upper, lower));
  for (int64_t rows = inWide ? llvm::bit_floor<uint64_t>(nest.rows - 1) : nest.rows; rows >= 1;
       rows = llvm::bit_floor<uint64_t>(rows - 1)) {
    Value step = indexConstant(rows);
    Value left = binary<arith::SubIOp>(upper, lower);
    if (failed(tiles(rows, binary<arith::MulIOp>(binary<arith::DivUIOp>(left, step), step))))
      return failure();
    if (rows == 1)
      break;
  }
  return success();
}
