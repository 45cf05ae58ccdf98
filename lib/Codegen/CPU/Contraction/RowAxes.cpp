// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Selects the axes of a contraction's result that are rows of its blocks. The rows of a block use one operand
// of the columns; the other axes are batches. Several row axes count as one, whatever axes are between them:
// a unit axis or a group of heads does not leave tiles with a single row.

#include "../CPUKernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

int64_t Nest::rowCount() const {
  int64_t count = 1;
  for (int64_t axis : rowAxes) {
    if (ShapedType::isDynamic(shape[axis]))
      return shape[axis];
    count *= shape[axis];
  }
  return count;
}

// The axes before the lanes on which no operand along the lanes depends; if all of them are batches, the last
// one. Only the outermost row axis may have a dynamic size.
SmallVector<int64_t> ContractionBlocks::rowAxesOf(const Nest &nest, int64_t laneAxis) {
  auto isBatch = [&](int64_t axis) {
    auto readsAlong = [&](linalg::GenericOp generic) {
      return llvm::any_of(generic.getDpsInputOperands(), [&](OpOperand *operand) {
        AffineMap map = generic.getMatchingIndexingMap(operand);
        return generic.getNumReductionLoops() > 0 && map.isFunctionOfDim(laneAxis) &&
               map.isFunctionOfDim(axis);
      });
    };
    return llvm::any_of(nest.outputs, [&](Value output) { return dependsOn(output, readsAlong); });
  };
  SmallVector<int64_t> axes;
  for (int64_t axis = laneAxis - 1; axis >= 0; --axis) {
    if (isBatch(axis))
      continue;
    axes.insert(axes.begin(), axis);
    if (ShapedType::isDynamic(nest.shape[axis]))
      break;
  }
  if (axes.empty() && laneAxis > 0)
    axes.push_back(laneAxis - 1);
  return axes;
}

// Row `base` + `offset` of the block as an index for each row axis. `base` is a multiple of `aligned`: where
// tiles and an axis divide each other, the rows of a tile have one base and constant distances.
Position ContractionBlocks::rowPosition(const Nest &nest, const Position &outer, Value base, int64_t offset,
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
