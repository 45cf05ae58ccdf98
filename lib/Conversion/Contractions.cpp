// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Contractions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

// acc + f32(a) * f32(b), as the conversion of contractions writes it.
static bool multipliesAndAddsBF16(linalg::GenericOp generic) {
  Block *body = generic.getBlock();
  auto fma = body->getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  auto widens = [&](Value value, unsigned argument) {
    auto widening = value.getDefiningOp<ConvertOp>();
    return widening && widening.getInput() == body->getArgument(argument) &&
           widening.getInput().getType().isBF16();
  };
  return fma && fma.getType().isF32() && widens(fma.getA(), 0) && widens(fma.getB(), 1) &&
         fma.getC() == body->getArgument(2);
}

// Few rows pay less for their conversions to f32 than for joining pairs.
bool ad::sumsPairs(linalg::GenericOp contraction, OrderAttr order) {
  constexpr int64_t kRows = 4;
  SmallVector<unsigned> reduced;
  contraction.getReductionDims(reduced);
  SmallVector<int64_t> sizes = contraction.getStaticLoopRanges();
  bool ordered = !order || (!order.isLanes() && order.getLength() % 2 == 0);
  if (!contraction->hasAttr(kMmaAttr) || !ordered || reduced.size() != 1 || sizes.size() < 3 ||
      contraction.getNumDpsInputs() != 2 || contraction.getNumResults() != 1 ||
      !multipliesAndAddsBF16(contraction))
    return false;
  int64_t rows = 1, depth = sizes[reduced.front()];
  for (int64_t size : ArrayRef(sizes).drop_back(2))
    rows *= ShapedType::isDynamic(size) ? kRows : size;
  return rows >= kRows && !ShapedType::isDynamic(depth) && depth % 2 == 0;
}

// Enough accumulators to hide the latency of a multiply-add, few enough for the registers, rows and columns
// in the proportion that the result has. A tile of r rows and v vectors loads r + v values for r * v
// multiply-adds.
RegisterTile ad::chooseRegisterTile(const TileTable &table, int64_t rows, int64_t columns, int64_t lanes) {
  auto most = [](int64_t size, int64_t limit) {
    return ShapedType::isDynamic(size) ? limit : std::clamp<int64_t>(size, 1, limit);
  };
  rows = most(rows, table.rows);
  int64_t vectors = most(ShapedType::isDynamic(columns) ? columns : columns / lanes, table.vectors);
  vectors = std::min<int64_t>(vectors, rows >= 8 ? 2 : rows >= 4 ? 4 : rows >= 2 ? 8 : 16);
  return {std::min(rows, table.accumulators / vectors), vectors};
}

AffineMap PackedLayout::map(unsigned loops, unsigned columnLoop, unsigned depthLoop,
                            MLIRContext *context) const {
  AffineExpr column = getAffineDimExpr(columnLoop, context), depth = getAffineDimExpr(depthLoop, context);
  SmallVector<AffineExpr> access = {column.floorDiv(tile), pairs ? depth.floorDiv(2) : depth, column % tile};
  if (pairs)
    access.push_back(depth % 2);
  return AffineMap::get(loops, 0, access, context);
}

RankedTensorType PackedLayout::type(int64_t depth, int64_t columns, Type element) const {
  SmallVector<int64_t> shape = {int64_t(llvm::divideCeil(columns, tile)), pairs ? depth / 2 : depth, tile};
  if (pairs)
    shape.push_back(2);
  return RankedTensorType::get(shape, element);
}

std::optional<PackedLayout> PackedLayout::match(AffineMap map, unsigned columnLoop, unsigned depthLoop) {
  if (map.getNumResults() < 3)
    return std::nullopt;
  auto within = dyn_cast<AffineBinaryOpExpr>(map.getResult(2));
  auto tile = within ? dyn_cast<AffineConstantExpr>(within.getRHS()) : AffineConstantExpr();
  if (!tile)
    return std::nullopt;
  PackedLayout layout{tile.getValue(), map.getNumResults() == 4};
  if (map == layout.map(map.getNumDims(), columnLoop, depthLoop, map.getContext()))
    return layout;
  return std::nullopt;
}
