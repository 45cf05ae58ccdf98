// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels whose last axis has a few elements, and whose operands are moved along with it: reversed, sliced or
// padded rows. Vectors run along the axis before the last one instead, one for each column, and are
// interleaved before they are stored.

#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The last axis before the columns that is longer than one, -1 if there is none.
static int64_t axisBefore(ArrayRef<int64_t> shape, int64_t columns) {
  int64_t rows = columns - 1;
  while (rows >= 0 && shape[rows] == 1)
    --rows;
  return rows;
}

// Operands of a row lie at distances up to the number of columns, over which whole vectors are shuffled.
void KernelEmitter::chooseShortRows(Nest &nest) {
  int64_t columns = nest.vectorize && !nest.blocked ? laneAxisOf(nest) : -1;
  if (columns < 0 || vectorLanes == 1 || ShapedType::isDynamic(nest.shape[columns]) ||
      nest.shape[columns] > std::min(kLongestStride, vectorLanes / 2))
    return;
  auto reduces = [](linalg::GenericOp generic) { return generic.getNumReductionLoops() > 0; };
  int64_t rows = axisBefore(nest.shape, columns);
  if (rows < 0 || (!ShapedType::isDynamic(nest.shape[rows]) && nest.shape[rows] < vectorLanes) ||
      llvm::any_of(kernel.getBody().getOps<linalg::GenericOp>(), reduces) ||
      llvm::any_of(nest.roots, [](Value root) { return !root.getDefiningOp<linalg::GenericOp>(); }))
    return;
  nest.shortRowAxis = rows;
}

// Whole vectors of rows, then the rest row by row.
LogicalResult KernelEmitter::emitShortRows(const Nest &nest, Value lower, Value upper,
                                           ArrayRef<Position> positions, Store store,
                                           function_ref<LogicalResult(Value)> emitRow) {
  int64_t columnAxis = laneAxisOf(nest), columns = nest.shape[columnAxis];
  Value step = indexConstant(vectorLanes), zero = indexConstant(0);
  Value whole =
      binary<arith::MulIOp>(binary<arith::DivUIOp>(binary<arith::SubIOp>(upper, lower), step), step);
  Value middle = binary<arith::AddIOp>(lower, whole);
  auto emitRows = [&](Value base) -> LogicalResult {
    WithLanes vectorCode(*this, vectorLanes, nullptr);
    SmallVector<Position> extended;
    for (const Position &position : positions)
      for (int64_t column = 0; column < columns; ++column) {
        Position &each = extended.emplace_back(position);
        each.push_back({base, 1, nullptr});
        each.resize(nest.shape.size(), {zero, 0, nullptr});
        each[columnAxis] = {indexConstant(column), 0, nullptr};
      }
    interleavedColumns = columns;
    LogicalResult result = store(extended);
    interleavedColumns = 1;
    return result;
  };
  if (failed(emitLoop(lower, middle, step, emitRows)))
    return failure();
  return emitLoop(middle, upper, indexConstant(1), emitRow);
}

// `values` has a vector for each column, whose lanes are rows; in memory the rows follow each other.
void KernelEmitter::storeInterleaved(const Buffer &destination, ArrayRef<Position> positions,
                                     ValueRange values) {
  assert(static_cast<int64_t>(values.size()) == interleavedColumns && "there is one row of positions");
  SmallVector<Value> vectors;
  for (Value value : values)
    vectors.push_back(splat(toMemory(value), lanes));
  int64_t step;
  Value indices, base = linearIndex(destination, positions.front(), step, indices);
  int64_t columns = interleavedColumns;
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
    Value pointer = pointerAt(destination, binary<arith::AddIOp>(base, indexConstant(part * lanes)));
    LLVM::StoreOp::create(builder, loc, mixed, pointer, memoryBytes(destination.element));
  }
}
