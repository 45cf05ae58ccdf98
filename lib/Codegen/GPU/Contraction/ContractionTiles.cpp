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

// A K tile has 64 bytes along K for mma.sync, and 128 bytes for wgmma, where each consumer warpgroup has 64
// rows. Chips differ in their instructions (EmitGPU.cpp), not in tile sizes: all tiles fit into every chip.
// {m, n, k, warpsM, warpsN, stages, consumerWarpgroups, clusterSize}
static constexpr TileRow kTiles[] = {
    {MathInstruction::Fma, 1, {128, 128, 16, 0, 0, 4, 0}},
    {MathInstruction::Fma, 1, {64, 64, 16, 0, 0, 3, 0}},
    {MathInstruction::Fma, 2, {128, 128, 16, 0, 0, 4, 0}},
    {MathInstruction::Fma, 2, {64, 64, 16, 0, 0, 3, 0}},
    {MathInstruction::Fma, 4, {128, 128, 8, 0, 0, 4, 0}},
    {MathInstruction::Fma, 4, {64, 64, 16, 0, 0, 3, 0}},
    {MathInstruction::Fma, 8, {64, 64, 8, 0, 0, 3, 0}},
    {MathInstruction::MmaSync, 1, {128, 128, 64, 2, 4, 3, 0}},
    {MathInstruction::MmaSync, 1, {64, 64, 64, 2, 4, 3, 0}},
    {MathInstruction::MmaSync, 2, {128, 128, 32, 2, 4, 3, 0}},
    {MathInstruction::MmaSync, 2, {64, 64, 32, 2, 4, 3, 0}},
    {MathInstruction::MmaSync, 4, {128, 128, 16, 2, 4, 3, 0}},
    {MathInstruction::MmaSync, 4, {64, 64, 16, 2, 4, 3, 0}},
    {MathInstruction::Wgmma, 1, {128, 256, 128, 0, 0, 4, 2, 2}},
    {MathInstruction::Wgmma, 1, {128, 256, 128, 0, 0, 4, 2}},
    {MathInstruction::Wgmma, 1, {128, 128, 128, 0, 0, 4, 2, 2}},
    {MathInstruction::Wgmma, 1, {128, 128, 128, 0, 0, 4, 2}},
    {MathInstruction::Wgmma, 1, {64, 64, 128, 0, 0, 4, 1}},
    {MathInstruction::Wgmma, 2, {128, 256, 64, 0, 0, 4, 2, 2}},
    {MathInstruction::Wgmma, 2, {128, 256, 64, 0, 0, 4, 2}},
    {MathInstruction::Wgmma, 2, {128, 128, 64, 0, 0, 4, 2, 2}},
    {MathInstruction::Wgmma, 2, {128, 128, 64, 0, 0, 4, 2}},
    {MathInstruction::Wgmma, 2, {64, 64, 64, 0, 0, 4, 1}},
    {MathInstruction::Wgmma, 4, {128, 256, 32, 0, 0, 4, 2, 2}},
    {MathInstruction::Wgmma, 4, {128, 256, 32, 0, 0, 4, 2}},
    {MathInstruction::Wgmma, 4, {128, 128, 32, 0, 0, 4, 2, 2}},
    {MathInstruction::Wgmma, 4, {128, 128, 32, 0, 0, 4, 2}},
    {MathInstruction::Wgmma, 4, {64, 64, 32, 0, 0, 4, 1}},
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

int64_t device::countTiles(ArrayRef<int64_t> shape, const ContractionTile &tile) {
  int64_t count = tile.clusterSize;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    int64_t each = axis + 1 == shape.size() ? tile.n : axis + 2 == shape.size() ? tile.clusterM() : 1;
    count *= ShapedType::isDynamic(size) ? 1 : int64_t(llvm::divideCeil(size, each));
  }
  return count;
}

// Blocks of a cluster whose tile is outside of the result only load operands for the others.
static bool fillsClusters(ArrayRef<int64_t> shape, const ContractionTile &tile) {
  ContractionTile alone = tile;
  alone.clusterSize = 1;
  int64_t inside = countTiles(shape, alone);
  return (countTiles(shape, tile) - inside) * kInsidePerOutside <= inside;
}

// No tile is wider than the result, rounded up to the smallest width; a dynamic N counts as that width. The
// smallest tile is chosen for 64-bit accumulators, and for SIMT code with a dynamic K: there each accumulator
// has more for the blocks of the order, in local memory.
std::optional<ContractionTile> device::chooseTile(const Contraction &contraction, StringRef name) {
  SmallVector<ContractionTile> tiles = tilesFor(contraction);
  if (!name.empty()) {
    auto named = llvm::find_if(tiles, [&](const ContractionTile &tile) { return tile.name() == name; });
    return named == tiles.end() ? std::nullopt : std::optional(*named);
  }
  linalg::GenericOp op = contraction.op;
  auto result = cast<RankedTensorType>(op.getResult(0).getType());
  int64_t smallest = tiles.back().n, n = result.getShape().back();
  int64_t width = ShapedType::isDynamic(n) ? smallest : int64_t(llvm::alignTo(n, smallest));
  bool dynamicK = ShapedType::isDynamic(op.getStaticLoopRanges()[contraction.kLoop]);
  bool small =
      result.getElementTypeBitWidth() > 32 || (dynamicK && contraction.instruction == MathInstruction::Fma);
  for (const ContractionTile &tile : ArrayRef(tiles).drop_back())
    if (!small && countTiles(result.getShape(), tile) >= kManyTiles && tile.n <= width &&
        fillsClusters(result.getShape(), tile))
      return tile;
  return tiles.back();
}
