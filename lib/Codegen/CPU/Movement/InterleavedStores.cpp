// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Vectors along the rows of a short last axis, one for each column: interleaved before they are stored, or
// transposed in registers.

#include "InterleavedStores.h"
#include "VectorShuffles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

bool InterleavedStores::isTransposed(int64_t columns) {
  return columns > kLongestStride && columns <= vectorLanes && 2 * columns > vectorLanes &&
         llvm::isPowerOf2_64(vectorLanes);
}

// `values` has a vector for each column, whose lanes are rows; in memory the rows follow each other.
void InterleavedStores::storeInterleaved(const Buffer &destination, ArrayRef<Position> positions,
                                         ValueRange values) {
  assert(static_cast<int64_t>(values.size()) == columnsOfRows && "there is one row of positions");
  SmallVector<Value> vectors;
  for (Value value : values)
    vectors.push_back(laneValues.splat(toMemory(value), lanes));
  int64_t step;
  Value indices, base = memoryAccess.linearIndex(destination, positions.front(), step, indices);
  int64_t columns = columnsOfRows;
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
        memoryAccess.pointerAt(destination, binary<arith::AddIOp>(base, indexConstant(part * lanes)));
    LLVM::StoreOp::create(builder, loc, mixed, pointer, memoryBytes(destination.element));
  }
}

//===- Columns as transposed rows ------------------------------------------===//

Value InterleavedStores::pointerAt(const Buffer &buffer, Value base, int64_t offset) {
  return memoryAccess.pointerAt(buffer, binary<arith::AddIOp>(base, indexConstant(offset)));
}

// Each row is a whole vector, which ends in the next row. Rows are stored in ascending order, so that the
// next row replaces that end; the last vector ends with the last row.
void InterleavedStores::storeTransposed(const Buffer &destination, Value base, SmallVector<Value> vectors) {
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
SmallVector<Value> InterleavedStores::loadTransposed(const Buffer &buffer, Value base) {
  int64_t columns = columnsOfRows, last = lanes * (columns - 1);
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
Value InterleavedStores::loadColumn(const Buffer &buffer, const Position &position) {
  if (!isTransposed(columnsOfRows) || lanes != vectorLanes || mask || position.size() < 2 ||
      buffer.shape.back() != columnsOfRows)
    return {};
  const Index &column = position.back(), &row = position[position.size() - 2];
  std::optional<int64_t> number = column.isUniform() ? constantOf(column.base) : std::nullopt;
  bool isFirstVarying =
      llvm::all_of(ArrayRef(position).drop_back(2), [](const Index &index) { return index.isUniform(); });
  if (!number || *number < 0 || *number >= columnsOfRows || row.lanes || row.step != 1 || !isFirstVarying)
    return {};
  Position start(position);
  start.back() = {indexConstant(0), 0, nullptr};
  std::tuple key(builder.getInsertionBlock(), buffer.pointer.getAsOpaquePointer(),
                 std::vector<Index>(start.begin(), start.end() - 1));
  auto [found, isNew] = transposed.try_emplace(key);
  if (isNew) {
    int64_t step;
    Value indices, base = memoryAccess.linearIndex(buffer, start, step, indices);
    assert(!indices && step == columnsOfRows && "rows have a static size");
    found->second = loadTransposed(buffer, base);
  }
  return fromMemory(found->second[*number], buffer.element);
}
