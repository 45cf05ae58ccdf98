// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TileMapping.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

void TileMapping::bindSizes() {
  linalg::GenericOp op = contraction.op;
  m = reductionLoops.sizeOf(op, contraction.mLoop);
  n = reductionLoops.sizeOf(op, contraction.nLoop);
  k = reductionLoops.sizeOf(op, contraction.kLoop);
}

void TileMapping::setGrid() {
  ArrayRef<int64_t> shape = results.front().shape;
  launchShape.level = MappingLevel::block;
  launchShape.clusterSize = tile.clusterSize;
  if (!ShapedType::isDynamicShape(shape)) {
    launchShape.gridSize = countTiles(shape, contraction.mAxis, tile);
    return;
  }
  launchShape.axes = shape.size();
  launchShape.tile.assign(launchShape.axes - contraction.mAxis, 1);
  launchShape.tile.front() = tile.clusterM();
  launchShape.tile.back() = tile.n;
}

// The sizes of all axes but M and N.
SmallVector<Value> TileMapping::batchSizes() {
  SmallVector<Value> sizes(ArrayRef(results.front().sizes).drop_back());
  sizes.erase(sizes.begin() + contraction.mAxis);
  return sizes;
}

Value TileMapping::tileCount() {
  Value count = binary<arith::MulIOp>(divideUp(m, tile.clusterM()), divideUp(n, tile.n));
  for (Value size : batchSizes())
    count = binary<arith::MulIOp>(count, size);
  return count;
}

// Consecutive tiles share operands in the L2 cache: the order goes down a strip of this many tiles, then to
// the next column of the strip. The last strip may be lower.
static constexpr int64_t kStripRows = 8;

Value TileMapping::stripHeight(Value rows, Value first) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(rows));
  int64_t maxHeight = kStripRows / tile.clusterSize;
  if (known && (*known < maxHeight || *known % maxHeight == 0))
    return indexConstant(std::min(*known, maxHeight));
  return binary<arith::MinUIOp>(binary<arith::SubIOp>(rows, first), indexConstant(maxHeight));
}

std::pair<Value, Value> TileMapping::tileInMatrix(Value number, Value rows, Value columns) {
  Value height = indexConstant(kStripRows / tile.clusterSize);
  auto [strip, inStrip] = divide(number, binary<arith::MulIOp>(height, columns));
  Value first = binary<arith::MulIOp>(strip, height);
  auto [column, row] = divide(inStrip, stripHeight(rows, first));
  return {binary<arith::AddIOp>(first, row), column};
}

TileOrigin TileMapping::originOf(Value number) {
  Value rows = divideUp(m, tile.clusterM()), columns = divideUp(n, tile.n);
  auto [rest, inMatrix] = divide(number, binary<arith::MulIOp>(rows, columns));
  auto [row, column] = tileInMatrix(inMatrix, rows, columns);
  SmallVector<Value> outer = batchSizes();
  TileOrigin origin{number,
                    Position(outer.size()),
                    binary<arith::MulIOp>(row, indexConstant(tile.clusterM())),
                    binary<arith::MulIOp>(column, indexConstant(tile.n)),
                    indexConstant(0),
                    k};
  for (int64_t axis = int64_t(outer.size()) - 1; axis >= 0; --axis) {
    auto [left, index] = divide(rest, outer[axis]);
    origin.batch[axis] = {index, 0, nullptr};
    rest = left;
  }
  return origin;
}

Position TileMapping::positionAt(const TileOrigin &origin, Value row, Value column) {
  Position position(origin.batch);
  position.insert(position.begin() + contraction.mAxis, {row, 0, nullptr});
  position.push_back({column, 0, nullptr});
  return position;
}

SmallVector<Index> TileMapping::loopsAt(const TileOrigin &origin, Value row, Value column, Value step) {
  linalg::GenericOp op = contraction.op;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<Index> loops = maps.loopsFromOutput(op, out, positionAt(origin, row, column));
  loops[contraction.kLoop] = {step, 0, nullptr};
  return loops;
}

bool TileMapping::hasWholeKTiles() {
  linalg::GenericOp op = contraction.op;
  int64_t size = op.getStaticLoopRanges()[contraction.kLoop];
  OrderAttr order = kernel.getOrderAttr();
  return !ShapedType::isDynamic(size) && size % tile.k == 0 &&
         (!order || order.getPartLength() % tile.k == 0);
}
