// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Dialect/AD/IR/PackedLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

AffineMap PackedLayout::map(unsigned loops, unsigned columnLoop, unsigned loopK, MLIRContext *context) const {
  AffineExpr column = getAffineDimExpr(columnLoop, context), k = getAffineDimExpr(loopK, context);
  SmallVector<AffineExpr> access = {column.floorDiv(tile), group > 1 ? k.floorDiv(group) : k, column % tile};
  if (group > 1)
    access.push_back(k % group);
  return AffineMap::get(loops, 0, access, context);
}

RankedTensorType PackedLayout::type(int64_t sizeK, int64_t columns, Type element) const {
  SmallVector<int64_t> shape = {int64_t(llvm::divideCeil(columns, tile)), sizeK / group, tile};
  if (group > 1)
    shape.push_back(group);
  return RankedTensorType::get(shape, element);
}

std::optional<PackedLayout> PackedLayout::match(AffineMap map, RankedTensorType type,
                                                ArrayRef<int64_t> loopSizes, unsigned columnLoop,
                                                unsigned loopK) {
  int64_t columns = loopSizes[columnLoop], sizeK = loopSizes[loopK];
  if (map.getNumResults() < 3 || ShapedType::isDynamic(columns) || ShapedType::isDynamic(sizeK))
    return std::nullopt;
  auto within = dyn_cast<AffineBinaryOpExpr>(map.getResult(2));
  auto tile = within ? dyn_cast<AffineConstantExpr>(within.getRHS()) : AffineConstantExpr();
  if (!tile || tile.getValue() < 1)
    return std::nullopt;
  bool grouped = map.getNumResults() == 4 && type.getRank() == 4 && type.getDimSize(3) > 1;
  PackedLayout layout{tile.getValue(), grouped ? type.getDimSize(3) : 1};
  bool fits = map == layout.map(map.getNumDims(), columnLoop, loopK, map.getContext()) &&
              sizeK % layout.group == 0 && type == layout.type(sizeK, columns, type.getElementType());
  return fits ? std::optional(layout) : std::nullopt;
}
