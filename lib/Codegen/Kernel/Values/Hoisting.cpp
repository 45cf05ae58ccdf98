// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Values that a loop does not change are computed before it: the sum of a row before the loop over the row
// that divides by it. A position with an index that varies represents the whole loop.

#include "Hoisting.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

// The tensors that `tensor` is computed from, each with the position that is read for `position`. A computed
// access may be anywhere, so that it represents all positions.
SmallVector<std::pair<Value, Position>> Hoisting::inputsAt(Value tensor, const Position &position) {
  Operation *op = buffers.count(tensor) ? nullptr : tensor.getDefiningOp();
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return {{cast.getSource(), position}};
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    return {{slice.getSource(), maps.insideSlice(slice, position)}};
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic)
    return {};
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(result));
  SmallVector<Index> loops = maps.loopsFromOutput(generic, map, position);
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  for (unsigned dim : reduced)
    loops[dim] = Index::varying();
  SmallVector<std::pair<Value, Position>> inputs;
  for (OpOperand *input : generic.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()) && !generic.getMatchingBlockArgument(input).use_empty())
      inputs.push_back({input->get(), maps.apply(generic.getMatchingIndexingMap(input), loops)});
  for (Value read : extractedTensors(generic))
    inputs.push_back({read, Position(cast<RankedTensorType>(read.getType()).getRank(), Index::varying())});
  return inputs;
}

// A value may have several users: it is visited once per position.
static bool enter(std::set<std::pair<const void *, std::vector<Index>>> &visited, Value tensor,
                  const Position &position) {
  return visited.insert({tensor.getAsOpaquePointer(), {position.begin(), position.end()}}).second;
}

LogicalResult Hoisting::hoist(Value tensor, const Position &position, Visited &visited) {
  if (!enter(visited, tensor, position))
    return success();
  if (!varies(position))
    return values.evaluateOne(tensor, position);
  for (auto &[input, at] : inputsAt(tensor, position))
    if (failed(hoist(input, at, visited)))
      return failure();
  return success();
}

// Whether a sum over lanes is read at positions that vary: then these cannot be lanes themselves, but for the
// sums of short rows.
bool Hoisting::sumsLanesAt(Value tensor, const Position &position, Visited &visited, bool ofShortRows) {
  if (!enter(visited, tensor, position))
    return false;
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (generic && varies(position) && reductionLoops.usesLanes(generic) &&
      (ofShortRows || !reductionLoops.vectorizesRows(generic)))
    return true;
  return llvm::any_of(inputsAt(tensor, position), [&](auto &input) {
    return sumsLanesAt(input.first, input.second, visited, ofShortRows);
  });
}

// The same for the whole nest: the axis varies, and so do the axes after it, which have size 1.
bool Hoisting::sumsLanesAlong(ValueRange outputs, const Nest &nest, int64_t axis, bool ofShortRows) {
  if (axis < 0)
    return false;
  // Most lanes of a vector of few rows would be inactive.
  int64_t rows = nest.shape[axis];
  ofShortRows |= !ShapedType::isDynamic(rows) && rows < vectorLanes;
  Position position(nest.shape.size(), {indexConstant(0), 0, nullptr});
  position[axis] = Index::varying();
  Visited visited;
  return llvm::any_of(outputs,
                      [&](Value output) { return sumsLanesAt(output, position, visited, ofShortRows); });
}

// Before a loop over the reduced axes.
LogicalResult Hoisting::hoistReduced(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops) {
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  for (SmallVector<Index> inner : loops) {
    Visited visited;
    for (unsigned dim : reduced)
      inner[dim] = Index::varying();
    for (OpOperand *input : generic.getDpsInputOperands())
      if (isa<RankedTensorType>(input->get().getType()) &&
          !generic.getMatchingBlockArgument(input).use_empty())
        if (failed(hoist(input->get(), maps.apply(generic.getMatchingIndexingMap(input), inner), visited)))
          return failure();
  }
  return success();
}
