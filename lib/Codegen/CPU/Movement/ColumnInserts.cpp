// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Insertions into results whose rows have a few elements. Whole rows of the destination are computed, one
// vector for each column, and stored interleaved (InterleavedStores.cpp).

#include "ColumnInserts.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static bool fillsAllButTheLast(tensor::InsertSliceOp insert) {
  return llvm::all_of(llvm::seq<int64_t>(0, insert.getSourceType().getRank() - 1),
                      [&](int64_t axis) { return fills(insert, axis); });
}

// Whether the program says which columns of the destination the slice has.
static bool hasKnownColumns(tensor::InsertSliceOp insert) {
  return !ShapedType::isDynamic(insert.getSourceType().getShape().back()) &&
         getConstantIntValue(insert.getMixedOffsets().back()) &&
         getConstantIntValue(insert.getMixedStrides().back());
}

LogicalResult ColumnInserts::emitInsert(tensor::InsertSliceOp insert, const Buffer &destination,
                                        const AxisRange &range) {
  bool haveSameRank = insert.getSourceType().getRank() == insert.getDestType().getRank();
  if (!haveSameRank || !isInsertedByColumn(insert, range))
    return InsertEmitter::emitInsert(insert, destination, range);
  if (!fillsAllButTheLast(insert) && failed(emitRange(insert.getDest(), destination, range)))
    return failure();
  return emitInsertByColumn(insert, destination, range);
}

// Whether whole rows of the destination are computed: their other columns are constant, or are other slices
// with the same rows.
bool ColumnInserts::isInsertedByColumn(tensor::InsertSliceOp insert, const AxisRange &range) {
  ArrayRef<int64_t> shape = insert.getDestType().getShape();
  int64_t last = shape.size() - 1;
  if (last < 1 || range.axis == last || !shortRows.isShortRow(shape.back()) || rowsOfSlice(insert) < 0 ||
      !hasKnownColumns(insert))
    return false;
  if (llvm::any_of(kernel.getBody().getOps<linalg::GenericOp>(), reduces))
    return false;
  Value below = insert.getDest();
  while (auto inner = below.getDefiningOp<tensor::InsertSliceOp>()) {
    if (buffers.count(below) || inner.getSourceType().getRank() != last + 1 || !hasKnownColumns(inner) ||
        !fillsAllButTheLast(inner))
      return false;
    below = inner.getDest();
  }
  return !buffers.count(below) &&
         (below.getDefiningOp<linalg::FillOp>() || below.getDefiningOp<tensor::EmptyOp>());
}

// The vectorized axis before the columns, -1 if there is none.
int64_t ColumnInserts::rowsOfSlice(tensor::InsertSliceOp insert) {
  ArrayRef<int64_t> shape = insert.getSourceType().getShape();
  int64_t rows = shortRows.axisOfRows(shape, shape.size() - 1);
  bool isNextToColumns = rows >= 0 && isUnitStride(insert, rows) &&
                         llvm::all_of(insert.getDestType().getShape().drop_front(rows + 1).drop_back(),
                                      [](int64_t size) { return size == 1; });
  return isNextToColumns ? rows : -1;
}

// The nest enumerates the rows of the slice and the columns of the destination.
LogicalResult ColumnInserts::emitInsertByColumn(tensor::InsertSliceOp insert, const Buffer &destination,
                                                const AxisRange &range) {
  CPUNest nest = nestOfSource(insert, range);
  nest.shape.back() = insert.getDestType().getShape().back();
  nest.sizes.back() = indexConstant(nest.shape.back());
  nest.shortRowAxis = rowsOfSlice(insert);
  nest.rows = nest.shortRowColumns = nest.shape.back();
  nest.vectorize = false; // in rows that follow whole vectors
  return loopNests.emitNest(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    Scope scope(context);
    SmallVector<Position> targets;
    SmallVector<Value> values;
    for (const Position &position : positions) {
      FailureOr<Position> target = insertedPosition(insert, ArrayRef(position).drop_back());
      if (failed(target))
        return failure();
      targets.emplace_back(*target).push_back(position.back());
      FailureOr<Value> value = valueOfColumn(insert, position, targets.back());
      if (failed(value))
        return failure();
      values.push_back(*value);
    }
    stores.storeAll(destination, targets, values);
    return success();
  });
}

// The result of the insertion in a row of the slice. `position` and `target` are that row in the slice and in
// the destination, and a column of the destination.
FailureOr<Value> ColumnInserts::valueOfColumn(tensor::InsertSliceOp insert, const Position &position,
                                              const Position &target) {
  int64_t column = *getConstantIntValue(getAsOpFoldResult(target.back().base));
  int64_t distance = column - *getConstantIntValue(insert.getMixedOffsets().back());
  int64_t stride = *getConstantIntValue(insert.getMixedStrides().back());
  if (distance >= 0 && distance % stride == 0 &&
      distance / stride < insert.getSourceType().getShape().back()) {
    Position inside(position);
    inside.back() = {indexConstant(distance / stride), 0, nullptr};
    return values.evaluateOne(insert.getSource(), inside);
  }
  Value below = insert.getDest();
  if (auto inner = below.getDefiningOp<tensor::InsertSliceOp>())
    return valueOfColumn(inner, target, target);
  if (below.getDefiningOp<tensor::EmptyOp>()) // which the program does not read
    return Value(
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(insert.getDestType().getElementType())));
  return values.evaluateOne(below, target);
}
