// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels over rows: softmax, norms and their derivatives. For each row the values that belong to the whole
// row are computed and stored first, then a loop of vectors goes along it.

#include "CPUKernelEmitter.h"
#include "adjoint/Codegen/Kernel/RowShape.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

LogicalResult RowEmitter::emitRows(ValueRange roots, unsigned space) {
  Nest whole = emitter.outputs.nestOver(results[space], roots[space]);
  Nest rows = whole;
  rows.shape.pop_back();
  rows.sizes.pop_back();
  rows.roots.clear();
  rows.vectorize = false;
  rows.rows = rowsTogether(roots, whole);
  emitter.shortRows.chooseShortRowsOf(rows, whole);
  emitter.distribution.chooseUnitsOfRows(rows);
  emitter.distribution.declareUnits({{space, rows.unitLoops}});
  return emitter.emitNest(rows, [&](ArrayRef<Position> positions) {
    return lanes > 1 ? emitter.shortRows.emitShortRowsAt(roots, whole, positions.front())
                     : emitRowsAt(roots, whole, positions);
  });
}

// Two rows, so that one waits for its sums while the other is read; one where the code is long, where a row's
// values are kept, and where rows come from beyond the caches, in which a second stream costs more than it
// hides.
int64_t RowEmitter::rowsTogether(ValueRange roots, const Nest &space) {
  if (!emitter.prefetcher.largeInputs(space).empty())
    return 1;
  bool isCheap = llvm::none_of(kernel.getBody().getOps<linalg::GenericOp>(), [&](linalg::GenericOp generic) {
    return isExpensive(generic) && llvm::any_of(generic.getResultTypes(), [&](Type type) {
             return cast<RankedTensorType>(type).getShape() == ArrayRef<int64_t>(space.shape);
           });
  });
  constexpr int64_t kShortCode = 24;
  return isCheap && llvm::range_size(kernel.getBody().getOps<linalg::GenericOp>()) <= kShortCode ? 2 : 1;
}

// All values of the rows are read before the first is stored, since a result may lie in the place of an
// operand.
LogicalResult RowEmitter::emitRowsAt(ValueRange roots, const Nest &space, ArrayRef<Position> rows) {
  CPUKernelEmitter::Scope scope(emitter);
  RowRoots split = emitter.outputs.splitByRow(roots, space.shape);
  Position any(rows.front());
  any.push_back(Index::varying());
  emitter.prefetcher.chooseFetched(space);
  if (rows.size() == 1)
    emitter.rowCache.chooseSaved(split.whole, space, any);
  for (const Position &row : rows) {
    Position along(row);
    along.push_back(Index::varying());
    Visited hoisted;
    for (Value root : split.whole)
      if (failed(emitter.hoisting.hoist(root, along, hoisted)))
        return failure();
  }
  if (failed(emitter.outputs.storePerRow(split.perRow, split.perRowBuffers, rows)))
    return failure();
  Nest along = space;
  along.roots = split.whole;
  along.vectors = 4 / rows.size();
  SmallVector<Position> starts(rows);
  int64_t last = space.shape.size() - 1;
  Visited searched;
  along.vectorize = llvm::none_of(
      split.whole, [&](Value root) { return emitter.hoisting.sumsLanesAt(root, any, searched); });
  LogicalResult stored = emitter.nests.emitLoops(
      along, last, along.vectorize ? last : -1, starts, {}, [&](ArrayRef<Position> positions) {
        emitter.prefetcher.fetchNextRow(positions);
        return emitter.outputs.storeRoots(split.whole, split.wholeBuffers, positions);
      });
  emitter.rowCache.saved.clear();
  return stored;
}
