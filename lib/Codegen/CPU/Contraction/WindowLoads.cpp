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
  AffineMap map = generic.getMatchingIndexingMap(input);
  if (flat || found == buffers.end() || map.isProjectedPermutation() || !isConvolution(generic) ||
      !llvm::all_of(map.getResults(), isSumOfLoops) ||
      llvm::any_of(loops, [](const Index &index) { return index.varies; }))
    return {};
  SmallVector<Index> places(loops), steps(loops);
  for (auto [loop, kind] : llvm::enumerate(generic.getIteratorTypesArray()))
    (kind == utils::IteratorType::reduction ? places : steps)[loop] = {indexConstant(0), 0, nullptr};
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
