// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ElementwiseEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Where only the run knows whether rows begin where runs may, there is code for both cases.
LogicalResult ElementwiseEmitter::emitNest(const Nest &nest, Store store) {
  int64_t axis = contiguousAxis(nest.shape);
  int64_t length = axis < 0 ? 1 : runLength(nest, axis);
  if (length == 1)
    return GenericEmitter::emitNest(nest, store);
  launchShape.elements = length;
  return emitWhere(
      allowsRuns(length), [&] { return emitRuns(nest, axis, length, store); },
      [&] { return GenericEmitter::emitNest(nest, store); });
}

LogicalResult ElementwiseEmitter::emitRuns(const Nest &nest, int64_t axis, int64_t length, Store store) {
  if (flat)
    return emitFlatRuns(nest, length, store);
  Spread ofThread(*this);
  Scope scope(*this);
  if (failed(hoistEverywhere(nest.roots, nest)))
    return failure();
  Value each = indexConstant(length);
  SmallVector<Value> counts(nest.sizes);
  counts[axis] = binary<arith::DivUIOp>(counts[axis], each);
  return emitLoop(thread, elementCount(counts), threads, [&](Value number) {
    Position first = positionOfElement(number, counts);
    SmallVector<Position> positions;
    for (Value index : runFrom(binary<arith::MulIOp>(first[axis].base, each), length)) {
      positions.push_back(first);
      positions.back()[axis].base = index;
    }
    return store(positions);
  });
}

// All elements are one long row; those that make no whole run are taken one by one.
LogicalResult ElementwiseEmitter::emitFlatRuns(const Nest &nest, int64_t length, Store store) {
  Spread ofThread(*this);
  Scope scope(*this);
  Value each = indexConstant(length), total = elementCount(nest.sizes);
  Value count = binary<arith::DivUIOp>(total, each), whole = binary<arith::MulIOp>(count, each);
  LogicalResult emitted = emitLoop(thread, count, threads, [&](Value number) {
    SmallVector<Position> positions;
    for (Value index : runFrom(binary<arith::MulIOp>(number, each), length))
      positions.push_back({{index, 0, nullptr}});
    return store(positions);
  });
  if (failed(emitted))
    return failure();
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(total));
  if (known && *known % length == 0)
    return success();
  return emitLoop(binary<arith::AddIOp>(whole, thread), total, threads,
                  [&](Value number) { return store(Position{{number, 0, nullptr}}); });
}
