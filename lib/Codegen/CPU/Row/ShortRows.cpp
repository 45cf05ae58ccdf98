// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels whose last axis has a few elements: reversed, sliced or padded rows, and norms of short rows.
// Vectors run along the axis before the last one instead, one for each column, and are interleaved before
// they are stored. Up to kLongestStride columns are shuffled one by one, which takes as many shuffles as the
// square of their number; more columns are transposed in registers, in n log n shuffles.

#include "ShortRows.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The last axis before the columns that is longer than one, if it fills vectors; else -1.
int64_t ShortRows::axisOfRows(ArrayRef<int64_t> shape, int64_t columns) {
  int64_t rows = columns - 1;
  while (rows >= 0 && shape[rows] == 1)
    --rows;
  return rows >= 0 && (ShapedType::isDynamic(shape[rows]) || shape[rows] >= vectorLanes) ? rows : -1;
}

// Operands of a row have strides up to the number of columns, within which whole vectors are shuffled.
bool ShortRows::isShortRow(int64_t columns) {
  return columns > 1 && columns <= std::min(kLongestStride, vectorLanes / 2); // dynamic is negative
}

void ShortRows::chooseShortRows(CPUNest &nest) {
  int64_t columns = nest.vectorize && !nest.blocked ? nest.laneAxis() : -1;
  if (columns < 0 || !isShortRow(nest.shape[columns]))
    return;
  if (llvm::any_of(kernel.getBody().getOps<linalg::GenericOp>(), reduces) ||
      llvm::any_of(nest.outputs, [](Value output) { return !output.getDefiningOp<linalg::GenericOp>(); }))
    return;
  nest.shortRowAxis = axisOfRows(nest.shape, columns);
  nest.shortRowColumns = nest.shape[columns];
}

// The same for rows with values of their own, such as sums: each lane has the values of its row. The rows are
// the last axis of `nest`, which is `space` without its columns.
void ShortRows::chooseShortRowsOf(CPUNest &nest, const CPUNest &space) {
  int64_t columns = space.shape.size() - 1, size = space.shape[columns];
  if (vectorLanes == 1 || ShapedType::isDynamic(size) || size < 2 || size > vectorLanes ||
      (size > kLongestStride && !interleavedStores.isTransposed(size)))
    return;
  auto joinsColumns = [&](linalg::GenericOp generic) {
    return generic.getNumReductionLoops() == 0 ||
           (reductionLoops.vectorizesRows(generic) && kernel.getOrderAttr().getLanes() >= size);
  };
  if (llvm::all_of(kernel.getBody().getOps<linalg::GenericOp>(), joinsColumns))
    nest.shortRowAxis = axisOfRows(space.shape, columns);
}

// Whole vectors of rows, then the remainder row by row.
LogicalResult ShortRows::emitShortRows(const CPUNest &nest, Value lower, Value upper,
                                       ArrayRef<Position> positions, Store store,
                                       function_ref<LogicalResult(Value)> emitRow) {
  Value step = indexConstant(vectorLanes), zero = indexConstant(0);
  Value whole =
      binary<arith::MulIOp>(binary<arith::DivUIOp>(binary<arith::SubIOp>(upper, lower), step), step);
  Value middle = binary<arith::AddIOp>(lower, whole);
  auto emitRows = [&](Value base) -> LogicalResult {
    WithLanes vectorCode(context, vectorLanes, nullptr);
    SmallVector<Position> extended;
    for (const Position &position : positions) {
      Position &each = extended.emplace_back(position);
      each.push_back({base, 1, nullptr});
      each.resize(nest.shape.size(), {zero, 0, nullptr});
    }
    if (!nest.shortRowColumns)
      return store(extended);
    llvm::SaveAndRestore interleaved(interleavedStores.columnsOfRows, nest.shortRowColumns);
    return store(columnsOf(extended, nest.laneAxis(), nest.shortRowColumns));
  };
  if (failed(emitLoop(lower, middle, step, emitRows)))
    return failure();
  return emitLoop(middle, upper, indexConstant(1), emitRow);
}

SmallVector<Position> ShortRows::columnsOf(ArrayRef<Position> rows, int64_t axis, int64_t columns) {
  SmallVector<Position> positions;
  for (const Position &row : rows)
    for (int64_t column = 0; column < columns; ++column)
      positions.emplace_back(row)[axis] = {indexConstant(column), 0, nullptr};
  return positions;
}

// A vector of rows: all of its values are computed before the first store, since a result may be in the
// buffer of an operand.
LogicalResult ShortRows::emitShortRowsAt(ValueRange outputs, const CPUNest &space, const Position &rows) {
  Scope scope(context);
  RowOutputs split = kernelOutputs.splitByRow(outputs, space.shape);
  int64_t axis = space.shape.size() - 1, columns = space.shape[axis];
  Position first(rows);
  first.push_back({indexConstant(0), 0, nullptr});
  SmallVector<Position> positions = columnsOf(first, axis, columns);
  llvm::SaveAndRestore interleaved(interleavedStores.columnsOfRows, columns);
  interleavedStores.forgetColumns();
  SmallVector<SmallVector<Value>> values;
  for (Value output : split.whole) {
    auto columnValues = evaluator.evaluate(output, positions);
    if (failed(columnValues))
      return failure();
    values.push_back(*columnValues);
  }
  if (failed(kernelOutputs.storePerRow(split.perRow, split.perRowBuffers, rows)))
    return failure();
  for (auto [destination, columnValues] : llvm::zip_equal(split.wholeBuffers, values))
    interleavedStores.storeInterleaved(destination, positions, columnValues);
  return success();
}
