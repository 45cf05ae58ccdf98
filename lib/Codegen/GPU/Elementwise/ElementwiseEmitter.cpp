// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ElementwiseEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// If dynamic sizes decide whether the rows are aligned for vectors, both cases have code.
LogicalResult ElementwiseEmitter::emitNest(const Nest &nest, Store store) {
  int64_t axis = contiguousAxis(nest.shape);
  int64_t length = axis < 0 ? 1 : vectorized.vectorLength(nest, axis);
  // Vectors of half the length cost less than elements of two rows.
  int64_t run = axis < 0 ? 1 : runLength(nest, axis);
  if (flat ? length > 1 : run > (length == 1 ? 1 : 2 * length)) {
    launchShape.elements = flat ? length : run;
    return emitRuns(nest, launchShape.elements, store);
  }
  if (length == 1)
    return GPUKernelEmitter::emitNest(nest, store);
  launchShape.elements = length;
  return emitIfAllowed(
      vectorized.allowsVectors(length), [&] { return emitVectors(nest, axis, length, store); },
      [&] { return GPUKernelEmitter::emitNest(nest, store); });
}

// Where rows are no whole vectors, a thread takes elements of two rows. Code for each element tells them
// apart, so that there are not too many.
int64_t ElementwiseEmitter::runLength(const Nest &nest, int64_t axis) {
  constexpr int64_t longestRun = 8;
  int64_t length = std::min(vectorized.longestVector(nest, axis), longestRun);
  bool isKnown = !ShapedType::isDynamicShape(nest.shape);
  return isKnown && ShapedType::getNumElements(nest.shape) >= length ? length : 1;
}

LogicalResult ElementwiseEmitter::emitVectors(const Nest &nest, int64_t axis, int64_t length, Store store) {
  PerThread perThread(mapping);
  Scope scope(*this);
  if (failed(hoistInvariants(nest.outputs, nest)))
    return failure();
  Value each = indexConstant(length);
  SmallVector<Value> counts(nest.sizes);
  counts[axis] = binary<arith::DivUIOp>(counts[axis], each);
  return emitLoop(mapping.thread, mapping.elementCount(counts), mapping.gridThreads, [&](Value number) {
    Position first = mapping.positionOfElement(number, counts);
    SmallVector<Position> positions;
    for (Value index : vectorized.consecutiveIndices(binary<arith::MulIOp>(first[axis].base, each), length)) {
      positions.push_back(first);
      positions.back()[axis].base = index;
    }
    return store(positions);
  });
}

// All elements are one row; scalar code computes those after the last whole vector.
LogicalResult ElementwiseEmitter::emitRuns(const Nest &nest, int64_t length, Store store) {
  PerThread perThread(mapping);
  Scope scope(*this);
  if (failed(hoistInvariants(nest.outputs, nest)))
    return failure();
  Value each = indexConstant(length), total = mapping.elementCount(nest.sizes);
  Value count = binary<arith::DivUIOp>(total, each), whole = binary<arith::MulIOp>(count, each);
  LogicalResult emitted = emitLoop(mapping.thread, count, mapping.gridThreads, [&](Value number) {
    Value first = binary<arith::MulIOp>(number, each);
    if (!flat)
      return store(vectorized.runPositions(nest, first, length));
    SmallVector<Position> positions;
    for (Value index : vectorized.consecutiveIndices(first, length))
      positions.push_back({{index, 0, nullptr}});
    return store(positions);
  });
  if (failed(emitted))
    return failure();
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(total));
  if (known && *known % length == 0)
    return success();
  return emitLoop(
      binary<arith::AddIOp>(whole, mapping.thread), total, mapping.gridThreads, [&](Value number) {
        return store(flat ? Position{{number, 0, nullptr}} : mapping.positionOfElement(number, nest.sizes));
      });
}
