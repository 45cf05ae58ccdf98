// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels whose last axis has a few elements: reversed, sliced or padded rows, and norms of short rows.
// Vectors run along the axis before the last one instead, one for each column, and are interleaved before
// they are stored. Up to kLongestStride columns are shuffled one by one, which takes as many shuffles as the
// square of their number; more columns are transposed in registers, in n log n shuffles.

#include "../CPUKernelEmitter.h"
#include "../Movement/VectorShuffles.h"
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

void ShortRows::chooseShortRows(Nest &nest) {
  int64_t columns = nest.vectorize && !nest.blocked ? nest.laneAxis() : -1;
  if (columns < 0 || !isShortRow(nest.shape[columns]))
    return;
  if (llvm::any_of(kernel.getBody().getOps<linalg::GenericOp>(), reduces) ||
      llvm::any_of(nest.outputs, [](Value output) { return !output.getDefiningOp<linalg::GenericOp>(); }))
    return;
  nest.shortRowAxis = axisOfRows(nest.shape, columns);
  nest.shortRowColumns = nest.shape[columns];
}

// Whether a vector of rows is transposed in registers: its columns are more than half of its lanes.
bool ShortRows::isTransposed(int64_t columns) {
  return columns > kLongestStride && columns <= vectorLanes && 2 * columns > vectorLanes &&
         llvm::isPowerOf2_64(vectorLanes);
}

// The same for rows with values of their own, such as sums: each lane has the values of its row. The rows are
// the last axis of `nest`, which is `space` without its columns.
void ShortRows::chooseShortRowsOf(Nest &nest, const Nest &space) {
  int64_t columns = space.shape.size() - 1, size = space.shape[columns];
  if (vectorLanes == 1 || ShapedType::isDynamic(size) || size < 2 || size > vectorLanes ||
      (size > kLongestStride && !isTransposed(size)))
    return;
  auto joinsColumns = [&](linalg::GenericOp generic) {
    return generic.getNumReductionLoops() == 0 ||
           (emitter.rowReductions.vectorizesRows(generic) && kernel.getOrderAttr().getLanes() >= size);
  };
  if (llvm::all_of(kernel.getBody().getOps<linalg::GenericOp>(), joinsColumns))
    nest.shortRowAxis = axisOfRows(space.shape, columns);
}

// Whole vectors of rows, then the remainder row by row.
LogicalResult ShortRows::emitShortRows(const Nest &nest, Value lower, Value upper,
                                       ArrayRef<Position> positions, Store store,
                                       function_ref<LogicalResult(Value)> emitRow) {
  Value step = indexConstant(vectorLanes), zero = indexConstant(0);
  Value whole =
      binary<arith::MulIOp>(binary<arith::DivUIOp>(binary<arith::SubIOp>(upper, lower), step), step);
  Value middle = binary<arith::AddIOp>(lower, whole);
  auto emitRows = [&](Value base) -> LogicalResult {
    CPUKernelEmitter::WithLanes vectorCode(emitter, vectorLanes, nullptr);
    SmallVector<Position> extended;
    for (const Position &position : positions) {
      Position &each = extended.emplace_back(position);
      each.push_back({base, 1, nullptr});
      each.resize(nest.shape.size(), {zero, 0, nullptr});
    }
    if (!nest.shortRowColumns)
      return store(extended);
    llvm::SaveAndRestore interleaved(interleavedColumns, nest.shortRowColumns);
    return store(columnsOf(extended, nest.laneAxis(), nest.shortRowColumns));
  };
  if (failed(emitter.emitLoop(lower, middle, step, emitRows)))
    return failure();
  return emitter.emitLoop(middle, upper, indexConstant(1), emitRow);
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
LogicalResult ShortRows::emitShortRowsAt(ValueRange outputs, const Nest &space, const Position &rows) {
  CPUKernelEmitter::Scope scope(emitter);
  RowOutputs split = emitter.kernelOutputs.splitByRow(outputs, space.shape);
  int64_t axis = space.shape.size() - 1, columns = space.shape[axis];
  Position first(rows);
  first.push_back({indexConstant(0), 0, nullptr});
  SmallVector<Position> positions = columnsOf(first, axis, columns);
  llvm::SaveAndRestore interleaved(interleavedColumns, columns);
  transposed.clear();
  SmallVector<SmallVector<Value>> values;
  for (Value output : split.whole) {
    auto columnValues = emitter.evaluator.evaluate(output, positions);
    if (failed(columnValues))
      return failure();
    values.push_back(*columnValues);
  }
  if (failed(emitter.kernelOutputs.storePerRow(split.perRow, split.perRowBuffers, rows)))
    return failure();
  for (auto [destination, columnValues] : llvm::zip_equal(split.wholeBuffers, values))
    storeInterleaved(destination, positions, columnValues);
  return success();
}

// `values` has a vector for each column, whose lanes are rows; in memory the rows follow each other.
void ShortRows::storeInterleaved(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) {
  assert(static_cast<int64_t>(values.size()) == interleavedColumns && "there is one row of positions");
  SmallVector<Value> vectors;
  for (Value value : values)
    vectors.push_back(emitter.laneValues.splat(emitter.memoryAccess.toMemory(value), lanes));
  int64_t step;
  Value indices, base = emitter.memoryAccess.linearIndex(destination, positions.front(), step, indices);
  int64_t columns = interleavedColumns;
  if (isTransposed(columns))
    return storeTransposed(destination, base, std::move(vectors));
  for (int64_t part = 0; part < columns; ++part) {
    Value mixed = vectors.front();
    for (int64_t column = 0; column < columns; ++column) {
      SmallVector<int64_t> order;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t element = part * lanes + lane;
        order.push_back(element % columns == column ? lanes + element / columns : lane);
      }
      mixed = vector::ShuffleOp::create(builder, loc, mixed, vectors[column], order);
    }
    Value pointer =
        emitter.memoryAccess.pointerAt(destination, binary<arith::AddIOp>(base, indexConstant(part * lanes)));
    LLVM::StoreOp::create(builder, loc, mixed, pointer, memoryBytes(destination.element));
  }
}

//===- Columns as transposed rows ------------------------------------------===//

Value ShortRows::pointerAt(const Buffer &buffer, Value base, int64_t offset) {
  return emitter.memoryAccess.pointerAt(buffer, binary<arith::AddIOp>(base, indexConstant(offset)));
}

// Each row is a whole vector, which ends in the next row. Rows are stored in ascending order, so that the
// next row replaces that end; the last vector ends with the last row.
void ShortRows::storeTransposed(const Buffer &destination, Value base, SmallVector<Value> vectors) {
  int64_t columns = vectors.size(), last = lanes * (columns - 1);
  vectors.resize(lanes, vectors.back());
  transposeInRegisters(builder, loc, vectors);
  auto store = [&](Value vector, int64_t offset) {
    LLVM::StoreOp::create(builder, loc, vector, pointerAt(destination, base, offset),
                          memoryBytes(destination.element));
  };
  for (int64_t row = 0; row + 1 < lanes; ++row)
    store(vectors[row], row * columns);
  SmallVector<int64_t> order;
  for (int64_t element = last; element < lanes * columns; ++element)
    order.push_back(element / columns == lanes - 1 ? lanes + element % columns : element % columns);
  store(vector::ShuffleOp::create(builder, loc, vectors[lanes - 2], vectors[lanes - 1], order), last);
}

// The columns of a vector of rows that starts at `base`.
SmallVector<Value> ShortRows::loadTransposed(const Buffer &buffer, Value base) {
  int64_t columns = interleavedColumns, last = lanes * (columns - 1);
  auto type = VectorType::get(lanes, memoryType(buffer.element));
  SmallVector<Value> rows;
  for (int64_t row = 0; row < lanes; ++row) {
    // Nothing past the end of the last row is read.
    int64_t start = std::min(row * columns, last), skipped = row * columns - start;
    Value loaded =
        LLVM::LoadOp::create(builder, loc, type, pointerAt(buffer, base, start), memoryBytes(buffer.element));
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(std::min(lane + skipped, lanes - 1));
    rows.push_back(skipped ? vector::ShuffleOp::create(builder, loc, loaded, loaded, order).getResult()
                           : loaded);
  }
  transposeInRegisters(builder, loc, rows);
  return rows;
}

// A column of a vector of rows of the kernel's length; all columns are transposed when the first one is read.
Value ShortRows::loadColumn(const Buffer &buffer, const Position &position) {
  if (!isTransposed(interleavedColumns) || lanes != vectorLanes || mask || position.size() < 2 ||
      buffer.shape.back() != interleavedColumns)
    return {};
  const Index &column = position.back(), &row = position[position.size() - 2];
  std::optional<int64_t> number = column.isUniform() ? constantOf(column.base) : std::nullopt;
  bool isFirstVarying =
      llvm::all_of(ArrayRef(position).drop_back(2), [](const Index &index) { return index.isUniform(); });
  if (!number || *number < 0 || *number >= interleavedColumns || row.lanes || row.step != 1 ||
      !isFirstVarying)
    return {};
  Position start(position);
  start.back() = {indexConstant(0), 0, nullptr};
  std::tuple key(builder.getInsertionBlock(), buffer.pointer.getAsOpaquePointer(),
                 std::vector<Index>(start.begin(), start.end() - 1));
  auto [found, isNew] = transposed.try_emplace(key);
  if (isNew) {
    int64_t step;
    Value indices, base = emitter.memoryAccess.linearIndex(buffer, start, step, indices);
    assert(!indices && step == interleavedColumns && "rows have a static size");
    found->second = loadTransposed(buffer, base);
  }
  return emitter.memoryAccess.fromMemory(found->second[*number], buffer.element);
}
