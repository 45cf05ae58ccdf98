// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Divides the rows of a block into register tiles. If tiles do not divide the rows, some tiles have one row
// less, or tiles whose row counts are powers of two cover the remainder.

#include "RowTiles.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Whether tiles divide the rows. Then no code for fewer rows is necessary: a unit begins and ends with a
// tile.
static bool hasWholeTiles(int64_t size, int64_t rows) {
  return !ShapedType::isDynamic(size) && size % rows == 0;
}

// The rows of whole tiles, and the rows of tiles that have one row less: 197 rows are 22 tiles of 8 rows and
// 3 of 7, which keep the CPU as busy. Null if tiles have few rows, or divide the rows.
std::pair<Value, Value> RowTiles::evenTiles(const CPUNest &nest, int64_t size, Value count) {
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

// Tiles of rows; for the remainder the rows of a tile are halved, down to single rows.
LogicalResult RowTiles::emitRowTiles(const CPUNest &nest, Value lower, Value upper, const Position &outer,
                                     Store inRows) {
  int64_t count = nest.rowCount();
  // A divisor of every row at which a tile begins.
  int64_t begins = std::gcd(nest.tileOfUnits, nest.rows);
  auto tiles = [&](int64_t rows, Value covered) {
    Value middle = binary<arith::AddIOp>(lower, covered);
    begins = std::gcd(begins, rows);
    LogicalResult result = emitLoop(lower, middle, indexConstant(rows), [&](Value base) {
      SmallVector<Position> extended;
      for (int64_t i = 0; i < rows; ++i)
        extended.push_back(rowPosition(nest, outer, base, i, begins));
      return inRows(extended);
    });
    lower = middle;
    return result;
  };
  auto [inWide, inNarrow] = evenTiles(nest, count, binary<arith::SubIOp>(upper, lower));
  if (inWide && (failed(tiles(nest.rows, inWide)) || failed(tiles(nest.rows - 1, inNarrow))))
    return failure();
  if (hasWholeTiles(count, nest.rows))
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

// Delinearizes row `base` + `offset` of the block into an index for each row axis. `base` is a multiple of
// `aligned`. If the size of an axis divides `aligned`, or `aligned` divides the size, the rows of a tile
// share the division of `base`, and their indices differ by constants.
Position RowTiles::rowPosition(const CPUNest &nest, const Position &outer, Value base, int64_t offset,
                               int64_t aligned) {
  Position position(outer);
  for (int64_t axis : llvm::reverse(ArrayRef(nest.rowAxes).drop_front())) {
    int64_t size = std::max<int64_t>(nest.shape[axis], 1); // code for rows of an empty axis never runs
    Value extent = indexConstant(size);
    if (aligned % size == 0) {
      position[axis] = {indexConstant(offset % size), 0, nullptr};
      base = binary<arith::DivUIOp>(base, extent);
      offset /= size;
      aligned /= size;
      continue;
    }
    Value within = indexConstant(offset);
    if (size % aligned != 0 || offset >= aligned) {
      base = binary<arith::AddIOp>(base, within);
      within = indexConstant(0);
    }
    position[axis] = {binary<arith::AddIOp>(binary<arith::RemUIOp>(base, extent), within), 0, nullptr};
    base = binary<arith::DivUIOp>(base, extent);
    offset = 0;
    aligned = 1;
  }
  position[nest.rowAxes.front()] = {binary<arith::AddIOp>(base, indexConstant(offset)), 0, nullptr};
  return position;
}
