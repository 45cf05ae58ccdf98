// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels over rows: softmax, norms and their derivatives. For each row the values that belong to the whole
// row are computed and stored first, then a loop of vectors goes along it.

#include "RowNests.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

LogicalResult RowNests::emitRows(ValueRange outputs, unsigned space) {
  CPUNest whole = kernelOutputs.nestOver(results[space], outputs[space]);
  CPUNest rows = whole;
  rows.shape.pop_back();
  rows.sizes.pop_back();
  rows.outputs.clear();
  rows.vectorize = false;
  rows.rows = rowUnroll(outputs, whole);
  shortRows.chooseShortRowsOf(rows, whole);
  distribution.chooseUnitsOfRows(rows);
  distribution.declareUnits({{space, rows.unitLoops}});
  return loopNests.emitNest(rows, [&](ArrayRef<Position> positions) {
    return lanes > 1 ? shortRows.emitShortRowsAt(outputs, whole, positions.front())
                     : emitRowsAt(outputs, whole, positions);
  });
}

// Two rows, so that the reduction of one row overlaps with loads of the other; one row if the code is long,
// if values of a row are cached, or if rows come from beyond the caches, where a second stream costs more
// than it hides.
int64_t RowNests::rowUnroll(ValueRange outputs, const CPUNest &space) {
  if (!prefetcher.largeInputs(space).empty())
    return 1;
  bool isCheap = llvm::none_of(kernel.getBody().getOps<linalg::GenericOp>(), [&](linalg::GenericOp generic) {
    return isExpensive(generic) && llvm::any_of(generic.getResultTypes(), [&](Type type) {
             return cast<RankedTensorType>(type).getShape() == ArrayRef<int64_t>(space.shape);
           });
  });
  constexpr int64_t kShortCode = 24;
  return isCheap && llvm::range_size(kernel.getBody().getOps<linalg::GenericOp>()) <= kShortCode ? 2 : 1;
}

static Position anyElementOf(const Position &row) {
  Position position(row);
  position.push_back(Index::varying());
  return position;
}

void RowNests::beginRows(const RowOutputs &split, const CPUNest &space, ArrayRef<Position> rows,
                         bool maySave) {
  prefetcher.choosePrefetched(space);
  if (rows.size() == 1)
    rowCache.chooseSaved(split, space, rows.front(), maySave);
}

// Whether a row of dynamic length fits the cache of its values is known at run time only.
LogicalResult RowNests::emitRowsAt(ValueRange outputs, const CPUNest &space, ArrayRef<Position> rows) {
  RowOutputs split = kernelOutputs.splitByRow(outputs, space.shape);
  beginRows(split, space, rows, /*maySave=*/true);
  if (rowCache.saved.empty() || !ShapedType::isDynamic(space.shape.back()))
    return emitBegunRows(split, space, rows);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, space.sizes.back(),
                                     indexConstant(rowCache.longest));
  auto branch = scf::IfOp::create(builder, loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitBegunRows(split, space, rows)))
    return failure();
  builder.setInsertionPointToStart(branch.elseBlock());
  beginRows(split, space, rows, /*maySave=*/false);
  return emitBegunRows(split, space, rows);
}

// All values of the rows are loaded before the first store, since a result may be in the buffer of an
// operand.
LogicalResult RowNests::emitBegunRows(const RowOutputs &split, const CPUNest &space,
                                      ArrayRef<Position> rows) {
  Scope scope(context);
  Position any = anyElementOf(rows.front());
  for (const Position &row : rows) {
    Position along = anyElementOf(row);
    Visited hoisted;
    for (Value output : split.whole)
      if (failed(hoisting.hoist(output, along, hoisted)))
        return failure();
  }
  if (failed(kernelOutputs.storePerRow(split.perRow, split.perRowBuffers, rows)))
    return failure();
  CPUNest along = space;
  along.outputs = split.whole;
  along.vectors = 4 / rows.size();
  SmallVector<Position> starts(rows);
  int64_t last = space.shape.size() - 1;
  Visited searched;
  along.vectorize =
      llvm::none_of(split.whole, [&](Value output) { return hoisting.sumsLanesAt(output, any, searched); });
  LogicalResult stored = loopNests.emitLoops(
      along, last, along.vectorize ? last : -1, starts, {}, [&](ArrayRef<Position> positions) {
        prefetcher.prefetchNextRow(positions);
        return kernelOutputs.storeOutputs(split.whole, split.wholeBuffers, positions);
      });
  rowCache.saved.clear();
  return stored;
}
