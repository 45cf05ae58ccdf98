// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "WindowLoads.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Whether an index is a sum of loops, some of them times a constant.
static bool isSumOfLoops(AffineExpr expr) {
  auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!pair)
    return isa<AffineDimExpr>(expr);
  if (expr.getKind() == AffineExprKind::Mul)
    return isa<AffineDimExpr>(pair.getLHS()) && isa<AffineConstantExpr>(pair.getRHS());
  return expr.getKind() == AffineExprKind::Add && isSumOfLoops(pair.getLHS()) && isSumOfLoops(pair.getRHS());
}

Value WindowLoads::load(OpOperand *input, ArrayRef<Index> loops) {
  auto generic = cast<linalg::GenericOp>(input->getOwner());
  auto found = buffers.find(input->get());
  const PaddedInput *padded = paddedInputs.find(input->get());
  AffineMap map = generic.getMatchingIndexingMap(input);
  if (flat || (found == buffers.end() && !padded) || map.isProjectedPermutation() ||
      !isConvolution(generic) || !llvm::all_of(map.getResults(), isSumOfLoops) ||
      llvm::any_of(loops, [](const Index &index) { return index.varies; }))
    return {};
  SmallVector<Index> places(loops), steps(loops);
  for (auto [loop, kind] : llvm::enumerate(generic.getIteratorTypesArray()))
    (kind == utils::IteratorType::reduction ? places : steps)[loop] = {indexConstant(0), 0, nullptr};
  if (padded)
    return loadPadded(*padded, maps.apply(map, places), maps.apply(map, steps));
  int64_t step, none;
  Value lanesOfPlace, lanesOfStep;
  Buffer window = found->second;
  Value place = memoryAccess.linearIndex(window, maps.apply(map, places), step, lanesOfPlace);
  Value distance = memoryAccess.linearIndex(window, maps.apply(map, steps), none, lanesOfStep);
  if (lanesOfPlace || lanesOfStep)
    return {};
  window.pointer = memoryAccess.pointerAt(window, place);
  window.shape = {ShapedType::kDynamic};
  return memoryAccess.load(window, {{distance, step, nullptr}});
}

// The address of a row along the last axis is chosen: that of the input's row, or of the zeros.
Value WindowLoads::loadPadded(const PaddedInput &input, ArrayRef<Index> place, ArrayRef<Index> step) {
  auto isUniform = [](const Index &index) { return index.isUniform(); };
  if (!llvm::all_of(place.drop_back(), isUniform) || !llvm::all_of(step.drop_back(), isUniform) ||
      place.back().lanes || step.back().lanes)
    return {};
  Value isInside;
  Position first, distance;
  for (auto [axis, low] : llvm::enumerate(input.low)) {
    bool isLast = axis + 1 == input.low.size();
    Value from = isLast ? indexConstant(0) : binary<arith::SubIOp>(place[axis].base, indexConstant(low));
    Value along = isLast ? indexConstant(0) : step[axis].base;
    first.push_back({from, 0, nullptr});
    distance.push_back({along, 0, nullptr});
    if (input.isPaddedAlong[axis])
      isInside = both(isInside, builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                                                    binary<arith::AddIOp>(from, along),
                                                                    indexConstant(input.inside.shape[axis])));
  }
  int64_t none;
  Value lanesOfRow;
  Buffer row = input.inside;
  row.pointer = memoryAccess.pointerAt(row, memoryAccess.linearIndex(input.inside, first, none, lanesOfRow));
  row.pointer =
      memoryAccess.pointerAt(row, memoryAccess.linearIndex(input.inside, distance, none, lanesOfRow));
  if (isInside)
    row.pointer = builder.createOrFold<arith::SelectOp>(loc, isInside, row.pointer, input.zeros);
  row.shape = {ShapedType::kDynamic};
  Value column = binary<arith::AddIOp>(place.back().base, step.back().base);
  return memoryAccess.load(row, {{column, place.back().step + step.back().step, nullptr}});
}
