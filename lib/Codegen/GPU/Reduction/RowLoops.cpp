// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowLoops.h"
#include "../Generic/GPUKernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

LogicalResult RowLoops::emitRows(ValueRange outputs, unsigned space) {
  Nest whole = kernelOutputs.nestOver(results[space], {});
  for (auto [output, buffer] : llvm::zip_equal(outputs, results))
    if (buffer.shape == whole.shape)
      whole.outputs.push_back(output);
  int64_t rank = whole.shape.size();
  bool summed = rank == 0 || hoisting.sumsLanesAlong(whole.outputs, whole, rank - 1);
  bool hasRows = whole.outputs.size() != outputs.size();
  launchShape = {MappingLevel::warp, space, summed && !hasRows ? rank : rank - 1};
  if (summed && !hasRows)
    return emitSummedElements(outputs, whole);
  SmallVector<Value> sizes(ArrayRef(whole.sizes).drop_back());
  return emitLoop(mapping.warp, mapping.elementCount(sizes), mapping.gridWarps, [&](Value number) {
    return emitRow(outputs, whole, mapping.positionOfElement(number, sizes), !summed);
  });
}

LogicalResult RowLoops::emitSummedElements(ValueRange outputs, const Nest &space) {
  return emitLoop(mapping.warp, mapping.elementCount(space.sizes), mapping.gridWarps, [&](Value number) {
    return kernelOutputs.storeOutputs(outputs, results,
                                      ArrayRef<Position>(mapping.positionOfElement(number, space.sizes)));
  });
}

// All values of the row are read before the first is stored, since a result may overwrite an operand.
LogicalResult RowLoops::emitRow(ValueRange outputs, const Nest &space, const Position &row, bool parallel) {
  Scope scope(context);
  RowOutputs split = kernelOutputs.splitByRow(outputs, space.shape);
  Position along(row);
  along.push_back(Index::varying());
  Visited hoisted;
  for (Value output : split.whole)
    if (failed(hoisting.hoist(output, along, hoisted)))
      return failure();
  if (failed(kernelOutputs.storePerRow(split.perRow, split.perRowBuffers, row)))
    return failure();
  emitter.synchronizeRowThreads();
  auto storeAt = [&](ArrayRef<Value> indices) {
    SmallVector<Position> positions(indices.size(), row);
    for (auto [position, index] : llvm::zip_equal(positions, indices))
      position.push_back({index, 0, nullptr});
    return kernelOutputs.storeOutputs(split.whole, split.wholeBuffers, positions);
  };
  Value length = space.sizes.back();
  if (!parallel)
    return emitLoop(indexConstant(0), length, indexConstant(1), [&](Value index) { return storeAt(index); });
  ThreadMapping::PerThread perThread(mapping);
  return emitter.emitAlongRow(length, storeAt);
}
