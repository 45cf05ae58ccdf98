// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionTiles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

namespace {
/// A tile for an instruction and operands with elements of some bytes.
struct TileRow {
  MathInstruction instruction;
  int64_t elementBytes;
  ContractionTile tile;
};
} // namespace

static constexpr TileRow fmaTile(int64_t elementBytes, int64_t m, int64_t n, int64_t k, int64_t stages) {
  return {MathInstruction::Fma, elementBytes, {m, n, k, /*warpsM=*/0, /*warpsN=*/0, stages, 0}};
}

static constexpr TileRow mmaSyncTile(int64_t elementBytes, int64_t m, int64_t n, int64_t k, int64_t stages) {
  return {MathInstruction::MmaSync, elementBytes, {m, n, k, /*warpsM=*/2, /*warpsN=*/4, stages, 0}};
}

static constexpr TileRow wgmmaTile(int64_t elementBytes, int64_t m, int64_t n, int64_t k,
                                   int64_t consumerWarpgroups, int64_t clusterSize) {
  return {MathInstruction::Wgmma,
          elementBytes,
          {m, n, k, /*warpsM=*/0, /*warpsN=*/0, /*stages=*/4, consumerWarpgroups, clusterSize}};
}

// A K tile has 64 bytes along K for mma.sync, and 128 bytes for wgmma, where each consumer warpgroup has 64
// rows. Chips differ in their instructions (EmitGPU.cpp), not in tile sizes: all tiles fit into every chip.
static constexpr TileRow kTiles[] = {
    fmaTile(1, 128, 128, 16, 4),
    fmaTile(1, 64, 64, 16, 3),
    fmaTile(2, 128, 128, 16, 4),
    fmaTile(2, 64, 64, 16, 3),
    fmaTile(4, 128, 128, 8, 4),
    fmaTile(4, 64, 64, 16, 3),
    fmaTile(8, 64, 64, 8, 3),
    mmaSyncTile(1, 128, 128, 64, 3),
    mmaSyncTile(1, 64, 64, 64, 3),
    mmaSyncTile(2, 128, 128, 32, 3),
    mmaSyncTile(2, 64, 64, 32, 3),
    mmaSyncTile(4, 128, 128, 16, 3),
    mmaSyncTile(4, 64, 64, 16, 3),
    wgmmaTile(1, 128, 256, 128, /*consumerWarpgroups=*/2, /*clusterSize=*/2),
    wgmmaTile(1, 128, 256, 128, /*consumerWarpgroups=*/2, /*clusterSize=*/1),
    wgmmaTile(1, 128, 128, 128, /*consumerWarpgroups=*/2, /*clusterSize=*/2),
    wgmmaTile(1, 128, 128, 128, /*consumerWarpgroups=*/2, /*clusterSize=*/1),
    wgmmaTile(1, 64, 64, 128, /*consumerWarpgroups=*/1, /*clusterSize=*/1),
    wgmmaTile(2, 128, 256, 64, /*consumerWarpgroups=*/2, /*clusterSize=*/2),
    wgmmaTile(2, 128, 256, 64, /*consumerWarpgroups=*/2, /*clusterSize=*/1),
    wgmmaTile(2, 128, 128, 64, /*consumerWarpgroups=*/2, /*clusterSize=*/2),
    wgmmaTile(2, 128, 128, 64, /*consumerWarpgroups=*/2, /*clusterSize=*/1),
    wgmmaTile(2, 64, 64, 64, /*consumerWarpgroups=*/1, /*clusterSize=*/1),
    wgmmaTile(4, 128, 256, 32, /*consumerWarpgroups=*/2, /*clusterSize=*/2),
    wgmmaTile(4, 128, 256, 32, /*consumerWarpgroups=*/2, /*clusterSize=*/1),
    wgmmaTile(4, 128, 128, 32, /*consumerWarpgroups=*/2, /*clusterSize=*/2),
    wgmmaTile(4, 128, 128, 32, /*consumerWarpgroups=*/2, /*clusterSize=*/1),
    wgmmaTile(4, 64, 64, 32, /*consumerWarpgroups=*/1, /*clusterSize=*/1),
};
// Tiles that keep the multiprocessors of a large chip busy: about kDefaultSMCount.
static constexpr int64_t kManyTiles = 128;
// The last clusters may compute one tile outside of the result for so many tiles inside.
static constexpr int64_t kInsidePerOutside = 8;

std::string ContractionTile::name() const {
  std::string size = std::to_string(m) + "x" + std::to_string(n);
  return clusterSize > 1 ? std::to_string(clusterSize) + "x" + size : size;
}

SmallVector<ContractionTile> device::tilesFor(const Contraction &contraction) {
  int64_t bytes = getElementTypeOrSelf(contraction.operandA->get().getType()).getIntOrFloatBitWidth() / 8;
  SmallVector<ContractionTile> tiles;
  for (const TileRow &row : kTiles)
    if (row.instruction == contraction.instruction && row.elementBytes == bytes)
      tiles.push_back(row.tile);
  return tiles;
}

int64_t device::countTiles(ArrayRef<int64_t> shape, int64_t mAxis, const ContractionTile &tile) {
  int64_t count = tile.clusterSize;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    int64_t each = axis + 1 == shape.size() ? tile.n : int64_t(axis) == mAxis ? tile.clusterM() : 1;
    count *= ShapedType::isDynamic(size) ? 1 : int64_t(llvm::divideCeil(size, each));
  }
  return count;
}

// Blocks of a cluster whose tile is outside of the result only load operands for the others.
static bool fillsClusters(ArrayRef<int64_t> shape, int64_t mAxis, const ContractionTile &tile) {
  ContractionTile alone = tile;
  alone.clusterSize = 1;
  int64_t inside = countTiles(shape, mAxis, alone);
  return (countTiles(shape, mAxis, tile) - inside) * kInsidePerOutside <= inside;
}

// The size, rounded up to tiles of the smallest size; a dynamic one counts as one of them.
static int64_t roundedUp(int64_t size, int64_t smallest) {
  return ShapedType::isDynamic(size) ? smallest : int64_t(llvm::alignTo(size, smallest));
}

// No tile is wider than the result, rounded up to the smallest width, or has more rows, if their number is
// known. The smallest tile is chosen for 64-bit accumulators, and for SIMT code with a dynamic K: there each
// accumulator has more for the blocks of the order, in local memory.
std::optional<ContractionTile> device::chooseTile(const Contraction &contraction, StringRef name) {
  SmallVector<ContractionTile> tiles = tilesFor(contraction);
  if (!name.empty()) {
    auto named = llvm::find_if(tiles, [&](const ContractionTile &tile) { return tile.name() == name; });
    return named == tiles.end() ? std::nullopt : std::optional(*named);
  }
  linalg::GenericOp op = contraction.op;
  auto result = cast<RankedTensorType>(op.getResult(0).getType());
  int64_t m = result.getDimSize(contraction.mAxis);
  int64_t width = roundedUp(result.getShape().back(), tiles.back().n);
  int64_t height = ShapedType::isDynamic(m) ? tiles.front().clusterM() : roundedUp(m, tiles.back().m);
  bool dynamicK = ShapedType::isDynamic(op.getStaticLoopRanges()[contraction.kLoop]);
  bool small =
      result.getElementTypeBitWidth() > 32 || (dynamicK && contraction.instruction == MathInstruction::Fma);
  for (const ContractionTile &tile : ArrayRef(tiles).drop_back())
    if (!small && countTiles(result.getShape(), contraction.mAxis, tile) >= kManyTiles && tile.n <= width &&
        tile.m <= height && fillsClusters(result.getShape(), contraction.mAxis, tile))
      return tile;
  return tiles.back();
}
