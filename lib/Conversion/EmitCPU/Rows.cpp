// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels over rows: softmax, norms and their derivatives. For each row the values that belong to the whole
// row are computed and stored first, then a loop of vectors goes along it.

#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

// The shape without its last axis, or with 1 in its place.
static bool isRowShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> space) {
  if (space.empty())
    return false;
  return shape == space.drop_back() ||
         (shape.size() == space.size() && shape.back() == 1 && shape.drop_back() == space.drop_back());
}

// The result whose shape is the iteration space, when every other one has that shape or one element per row.
std::optional<unsigned> KernelEmitter::rowSpaceOf(ValueRange roots) {
  for (unsigned number = 0; number < roots.size(); ++number) {
    Value space = roots[number];
    auto fits = [&](Value root) {
      auto generic = root.getDefiningOp<linalg::GenericOp>();
      bool isValue = buffers.count(root) || root.getDefiningOp<linalg::FillOp>() ||
                     root.getDefiningOp<tensor::ExtractSliceOp>() ||
                     (generic && generic.getNumResults() == 1);
      return isValue && (shapeOf(root) == shapeOf(space) || isRowShape(shapeOf(root), shapeOf(space)));
    };
    if (llvm::all_of(roots, fits))
      return number;
  }
  return std::nullopt;
}

LogicalResult KernelEmitter::emitRows(ValueRange roots, unsigned space) {
  Nest whole = nestOver(results[space], roots[space]);
  Nest rows = whole;
  rows.shape.pop_back();
  rows.sizes.pop_back();
  rows.roots.clear();
  rows.vectorize = false;
  rows.begin = rangeBegin;
  rows.end = rangeEnd;
  function->setAttr("ad.tiles", builder.getStringAttr(rows.shape.empty() ? "one" : "outer"));
  return emitNest(rows, [&](ArrayRef<Position> positions) -> LogicalResult {
    for (const Position &row : positions)
      if (failed(emitRow(roots, whole, row)))
        return failure();
    return success();
  });
}

// All values of the row are read before the first is stored, since a result may lie in the place of an
// operand.
LogicalResult KernelEmitter::emitRow(ValueRange roots, const Nest &space, const Position &row) {
  Scope scope(*this);
  SmallVector<Value> whole, perRow;
  SmallVector<Buffer> wholeBuffers, perRowBuffers;
  for (auto [root, buffer] : llvm::zip_equal(roots, results)) {
    bool full = ArrayRef<int64_t>(buffer.shape) == ArrayRef<int64_t>(space.shape);
    (full ? whole : perRow).push_back(root);
    (full ? wholeBuffers : perRowBuffers).push_back(buffer);
  }
  Position any(row);
  any.push_back(Index::varying());
  chooseSaved(whole, space, any);
  rowInputs = largeInputs(space);
  Visited hoisted, searched;
  for (Value root : whole)
    if (failed(hoist(root, any, hoisted)))
      return failure();
  SmallVector<Value> values;
  SmallVector<Position> places;
  for (auto [root, buffer] : llvm::zip_equal(perRow, perRowBuffers)) {
    Position &place = places.emplace_back(row);
    if (buffer.shape.size() > row.size())
      place.push_back({indexConstant(0), 0, nullptr});
    FailureOr<Value> value = evaluateOne(root, place);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  for (auto [buffer, place, value] : llvm::zip_equal(perRowBuffers, places, values))
    store(buffer, place, value);
  Nest along = space;
  along.roots = whole;
  SmallVector<Position> start = {row};
  int64_t last = space.shape.size() - 1;
  along.vectorize = llvm::none_of(whole, [&](Value root) { return sumsLanesAt(root, any, searched); });
  LogicalResult stored =
      emitLoops(along, last, along.vectorize ? last : -1, start, [&](ArrayRef<Position> positions) {
        prefetchNextRow(space, positions);
        return storeRoots(whole, wholeBuffers, positions);
      });
  saved.clear();
  return stored;
}
