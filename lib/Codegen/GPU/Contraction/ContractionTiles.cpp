// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionTiles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

namespace {
/// A tile of some units, for operands whose elements have so many bytes.
struct TileOfUnits {
  Units units;
  int64_t elementBytes;
  ContractionTile tile;
};
} // namespace

// Warps copy lines of 64 bytes along the depth, warpgroups lines of 128, and have 64 rows each. Chips differ
// in the units that they have (EmitGPU.cpp), not in their tiles: all of these fit into what every one has.
static constexpr TileOfUnits kTiles[] = {
    {Units::MultiplyAdds, 1, {128, 128, 16, 0, 0, 4, 0}},
    {Units::MultiplyAdds, 1, {64, 64, 16, 0, 0, 3, 0}},
    {Units::MultiplyAdds, 2, {128, 128, 16, 0, 0, 4, 0}},
    {Units::MultiplyAdds, 2, {64, 64, 16, 0, 0, 3, 0}},
    {Units::MultiplyAdds, 4, {128, 128, 8, 0, 0, 4, 0}},
    {Units::MultiplyAdds, 4, {64, 64, 16, 0, 0, 3, 0}},
    {Units::MultiplyAdds, 8, {64, 64, 8, 0, 0, 3, 0}},
    {Units::TensorCores, 1, {128, 128, 64, 2, 4, 3, 0}},
    {Units::TensorCores, 1, {64, 64, 64, 2, 4, 3, 0}},
    {Units::TensorCores, 2, {128, 128, 32, 2, 4, 3, 0}},
    {Units::TensorCores, 2, {64, 64, 32, 2, 4, 3, 0}},
    {Units::TensorCores, 4, {128, 128, 16, 2, 4, 3, 0}},
    {Units::TensorCores, 4, {64, 64, 16, 2, 4, 3, 0}},
    {Units::Warpgroups, 1, {128, 256, 128, 0, 0, 4, 2, 2}},
    {Units::Warpgroups, 1, {128, 256, 128, 0, 0, 4, 2}},
    {Units::Warpgroups, 1, {128, 128, 128, 0, 0, 4, 2, 2}},
    {Units::Warpgroups, 1, {128, 128, 128, 0, 0, 4, 2}},
    {Units::Warpgroups, 1, {64, 64, 128, 0, 0, 4, 1}},
    {Units::Warpgroups, 2, {128, 256, 64, 0, 0, 4, 2, 2}},
    {Units::Warpgroups, 2, {128, 256, 64, 0, 0, 4, 2}},
    {Units::Warpgroups, 2, {128, 128, 64, 0, 0, 4, 2, 2}},
    {Units::Warpgroups, 2, {128, 128, 64, 0, 0, 4, 2}},
    {Units::Warpgroups, 2, {64, 64, 64, 0, 0, 4, 1}},
    {Units::Warpgroups, 4, {128, 256, 32, 0, 0, 4, 2, 2}},
    {Units::Warpgroups, 4, {128, 256, 32, 0, 0, 4, 2}},
    {Units::Warpgroups, 4, {128, 128, 32, 0, 0, 4, 2, 2}},
    {Units::Warpgroups, 4, {128, 128, 32, 0, 0, 4, 2}},
    {Units::Warpgroups, 4, {64, 64, 32, 0, 0, 4, 1}},
};
// Tiles that keep the processors of a large chip busy.
static constexpr int64_t kManyTiles = 128;
// Tiles of the result for each one outside of it that the last clusters may take.
static constexpr int64_t kTilesForOneOutside = 8;

std::string ContractionTile::name() const {
  std::string size = std::to_string(rows) + "x" + std::to_string(columns);
  return cluster > 1 ? std::to_string(cluster) + "x" + size : size;
}

SmallVector<ContractionTile> device::tilesFor(const Contraction &contraction) {
  int64_t bytes = getElementTypeOrSelf(contraction.rows->get().getType()).getIntOrFloatBitWidth() / 8;
  SmallVector<ContractionTile> tiles;
  for (const TileOfUnits &row : kTiles)
    if (row.units == contraction.units && row.elementBytes == bytes)
      tiles.push_back(row.tile);
  return tiles;
}

int64_t device::tilesOf(ArrayRef<int64_t> shape, const ContractionTile &tile) {
  int64_t count = tile.cluster;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    int64_t each = axis + 1 == shape.size()   ? tile.columns
                   : axis + 2 == shape.size() ? tile.clusterRows()
                                              : 1;
    count *= ShapedType::isDynamic(size) ? 1 : int64_t(llvm::divideCeil(size, each));
  }
  return count;
}

// Blocks of a cluster that find no tile left only bring what the others need.
static bool fillsClusters(ArrayRef<int64_t> shape, const ContractionTile &tile) {
  ContractionTile alone = tile;
  alone.cluster = 1;
  int64_t inside = tilesOf(shape, alone);
  return (tilesOf(shape, tile) - inside) * kTilesForOneOutside <= inside;
}

// No tile is wider than the result, in tiles of the smallest width; a size that only the run knows counts as
// one of those. Nor has a thread the sums of a large tile where they are wide, or where only the run knows
// the depth: then it keeps sums of blocks for each of them in its own memory.
std::optional<ContractionTile> device::chooseTile(const Contraction &contraction, StringRef name) {
  SmallVector<ContractionTile> tiles = tilesFor(contraction);
  if (!name.empty()) {
    auto named = llvm::find_if(tiles, [&](const ContractionTile &tile) { return tile.name() == name; });
    return named == tiles.end() ? std::nullopt : std::optional(*named);
  }
  linalg::GenericOp op = contraction.op;
  auto result = cast<RankedTensorType>(op.getResult(0).getType());
  int64_t smallest = tiles.back().columns, columns = result.getShape().back();
  int64_t width = ShapedType::isDynamic(columns) ? smallest : int64_t(llvm::alignTo(columns, smallest));
  bool unknownDepth = ShapedType::isDynamic(op.getStaticLoopRanges()[contraction.depthLoop]);
  bool small =
      result.getElementTypeBitWidth() > 32 || (unknownDepth && contraction.units == Units::MultiplyAdds);
  for (const ContractionTile &tile : ArrayRef(tiles).drop_back())
    if (!small && tilesOf(result.getShape(), tile) >= kManyTiles && tile.columns <= width &&
        fillsClusters(result.getShape(), tile))
      return tile;
  return tiles.back();
}
