// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "CPUTypes.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

int64_t CPUNest::rowCount() const {
  int64_t count = 1;
  for (int64_t axis : rowAxes) {
    if (ShapedType::isDynamic(shape[axis]))
      return shape[axis];
    count *= shape[axis];
  }
  return count;
}

bool cpu::isLargerThan(Type type, int64_t bytes) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getNumElements() * memoryBytes(tensor.getElementType()) > bytes;
}

bool cpu::isFromMemory(Type type) { return isLargerThan(type, kCore.secondLevelBytes); }

bool cpu::isSweptFaster(Type type) {
  if (!isFromMemory(type))
    return false;
  auto tensor = cast<RankedTensorType>(type);
  bool pagesApart = areRowsPagesApart(tensor.getShape().back(), memoryBytes(tensor.getElementType()));
  return !pagesApart || isLargerThan(type, kCore.lastLevelBytes);
}

bool cpu::isContraction(linalg::GenericOp generic) {
  return generic.getNumReductionLoops() > 0 && isa_and_nonnull<math::FmaOp>(combiningOp(generic));
}

bool cpu::isConvolution(linalg::GenericOp generic) {
  auto isWindow = [](AffineMap map) { return !map.isProjectedPermutation(); };
  return generic.getNumReductionLoops() > 1 && generic.getNumDpsInputs() == 2 &&
         generic.getNumResults() == 1 && isContraction(generic) &&
         llvm::any_of(generic.getIndexingMapsArray(), isWindow) &&
         llvm::none_of(generic.getStaticLoopRanges(), ShapedType::isDynamic);
}

int64_t cpu::reducedSize(ArrayRef<Value> outputs) {
  int64_t size = 0;
  for (Value output : outputs)
    dependsOn(output, [&](linalg::GenericOp generic) {
      SmallVector<unsigned> dims;
      generic.getReductionDims(dims);
      if (dims.size() == 1)
        size = generic.getStaticLoopRanges()[dims.front()];
      else if (isConvolution(generic))
        size = reducedElements(generic);
      return size != 0;
    });
  return std::max<int64_t>(size, 0);
}
