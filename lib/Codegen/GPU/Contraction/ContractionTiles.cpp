// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionTiles.h"
#include "ContractionCost.h"
#include "adjoint/Codegen/Kernel/Grid.h"
#include "adjoint/Codegen/Target/Chips.h"

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

// Blocks of 512 threads in all leave each thread 128 registers, of which 64 are accumulators at most.
static constexpr TileRow fmaTile(int64_t elementBytes, int64_t m, int64_t n, int64_t k, int64_t stages,
                                 int64_t threads = kBlockThreads) {
  ContractionTile tile{m, n, k, /*warpsM=*/0, /*warpsN=*/0, stages, 0};
  tile.threads = threads;
  tile.blocksPerSM = 2 * kBlockThreads / threads;
  return {MathInstruction::Fma, elementBytes, tile};
}

static constexpr TileRow mmaSyncTile(int64_t elementBytes, int64_t m, int64_t n, int64_t k, int64_t stages,
                                     int64_t warpsM = 2, int64_t warpsN = 4) {
  ContractionTile tile{m, n, k, warpsM, warpsN, stages, 0};
  tile.threads = warpsM * warpsN * kWarpThreads;
  // A thread of four warps has twice the accumulators, and more than 128 registers where sizes are open;
  // 8-bit floats have two sets of them.
  int64_t small = tile.threads < kBlockThreads && elementBytes > 1 ? 3 : 2;
  tile.blocksPerSM = m * n / tile.threads > 32 ? kBlockThreads / tile.threads : small;
  return {MathInstruction::MmaSync, elementBytes, tile};
}

// Warps have 64 x 64 in the largest tile, so that shared memory keeps up with the tensor cores. In the others
// they have 64 x 32 or 32 x 32, and 16 warps of a multiprocessor hide each other's waits. A K tile has the
// 128 bytes along K of the swizzle of TMA.
static constexpr TileRow tmaTile(int64_t m, int64_t n, int64_t stages, int64_t warpsM, int64_t warpsN,
                                 int64_t blocksPerSM) {
  constexpr int64_t elementBytes = 2, k = 128 / elementBytes;
  ContractionTile tile{m, n, k, warpsM, warpsN, stages, 0};
  tile.threads = warpsM * warpsN * kWarpThreads;
  tile.blocksPerSM = blocksPerSM;
  tile.loadsByTma = true;
  return {MathInstruction::MmaSync, elementBytes, tile};
}

static constexpr TileRow wgmmaTile(int64_t elementBytes, int64_t m, int64_t n, int64_t k,
                                   int64_t consumerWarpgroups, int64_t clusterSize) {
  int64_t threads = (consumerWarpgroups + 1) * kWarpgroupThreads; // one produces
  int64_t blocksPerSM = consumerWarpgroups > 1 ? 1 : 2;
  return {MathInstruction::Wgmma,
          elementBytes,
          {m, n, k, /*warpsM=*/0, /*warpsN=*/0, /*stages=*/4, consumerWarpgroups, clusterSize, threads,
           blocksPerSM}};
}

// A warp reads fewer bytes of shared memory for each product, the larger its tile is; in the largest, of 64 x
// 64, its threads have 128 accumulators. A K tile has 64 bytes along K for mma.sync, and 128 bytes for wgmma,
// where each consumer warpgroup has 64 rows. Chips differ in their instructions (EmitGPU.cpp), not in tile
// sizes: all tiles fit into every chip.
static constexpr TileRow kTiles[] = {
    fmaTile(1, 128, 128, 16, 4),
    fmaTile(1, 128, 64, 16, 4, /*threads=*/128),
    fmaTile(1, 64, 128, 16, 4, /*threads=*/128),
    fmaTile(1, 16, 256, 16, 3),
    fmaTile(1, 256, 16, 16, 3),
    fmaTile(1, 32, 128, 16, 3),
    fmaTile(1, 128, 32, 16, 3),
    fmaTile(1, 64, 64, 16, 3),
    fmaTile(2, 128, 128, 16, 4),
    fmaTile(2, 128, 64, 16, 4, /*threads=*/128),
    fmaTile(2, 64, 128, 16, 4, /*threads=*/128),
    fmaTile(2, 16, 256, 16, 3),
    fmaTile(2, 256, 16, 16, 3),
    fmaTile(2, 32, 128, 16, 3),
    fmaTile(2, 128, 32, 16, 3),
    fmaTile(2, 64, 64, 16, 3),
    fmaTile(4, 128, 128, 32, 3),
    fmaTile(4, 128, 64, 32, 3, /*threads=*/128),
    fmaTile(4, 64, 128, 32, 3, /*threads=*/128),
    fmaTile(4, 16, 256, 8, 4),
    fmaTile(4, 256, 16, 8, 4),
    fmaTile(4, 32, 128, 16, 3),
    fmaTile(4, 128, 32, 16, 3),
    fmaTile(4, 64, 64, 16, 3),
    fmaTile(8, 16, 256, 4, 3),
    fmaTile(8, 256, 16, 4, 3),
    fmaTile(8, 64, 64, 8, 3),
    mmaSyncTile(1, 128, 256, 64, 4),
    mmaSyncTile(1, 128, 128, 64, 3),
    mmaSyncTile(1, 128, 64, 64, 4, /*warpsM=*/2, /*warpsN=*/2),
    mmaSyncTile(1, 64, 64, 64, 4, /*warpsM=*/2, /*warpsN=*/2),
    mmaSyncTile(2, 128, 256, 32, 4),
    mmaSyncTile(2, 128, 128, 32, 3),
    mmaSyncTile(2, 128, 64, 32, 4, /*warpsM=*/2, /*warpsN=*/2),
    mmaSyncTile(2, 64, 64, 64, 4, /*warpsM=*/2, /*warpsN=*/2),
    mmaSyncTile(4, 128, 256, 16, 4),
    mmaSyncTile(4, 128, 128, 16, 3),
    mmaSyncTile(4, 128, 64, 16, 4, /*warpsM=*/2, /*warpsN=*/2),
    mmaSyncTile(4, 64, 64, 32, 4, /*warpsM=*/2, /*warpsN=*/2),
    tmaTile(128, 256, /*stages=*/4, /*warpsM=*/2, /*warpsN=*/4, /*blocksPerSM=*/1),
    tmaTile(128, 128, /*stages=*/3, /*warpsM=*/2, /*warpsN=*/4, /*blocksPerSM=*/2),
    tmaTile(128, 64, /*stages=*/3, /*warpsM=*/4, /*warpsN=*/2, /*blocksPerSM=*/2),
    tmaTile(64, 64, /*stages=*/4, /*warpsM=*/2, /*warpsN=*/2, /*blocksPerSM=*/3),
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
// Tiles of each multiprocessor with which only reads of operands count, from L2 and from shared memory: the
// largest tile that TMA loads has the fewest.
static constexpr int64_t kManyWaves = 3;
// Blocks of K that a node of a large tile has at least, on average.
static constexpr int64_t kPartsPerTile = 4;
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
    if (row.instruction == contraction.instruction && row.elementBytes == bytes &&
        row.tile.loadsByTma == contraction.loadsByTma)
      tiles.push_back(row.tile);
  return tiles;
}

bool device::hasLargeWarps(const ContractionTile &tile) { return tile.m * tile.n > 128 * 128; }

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

// The blocks of the order along K, among which a grid divides the sums of FMAs (ContractionDivision.cpp).
static int64_t partsOfK(const Contraction &contraction) {
  linalg::GenericOp op = contraction.op;
  OrderAttr order = op->getParentOfType<KernelOp>().getOrderAttr();
  int64_t k = op.getStaticLoopRanges()[contraction.kLoop];
  bool divides = contraction.instruction == MathInstruction::Fma && order && !ShapedType::isDynamic(k);
  return divides ? llvm::divideCeil(k, order.getPartLength()) : 1;
}

// Whether there are tiles for every multiprocessor, or parts of tiles that are several times as many, so that
// joining them is short.
static bool occupiesMachine(const Contraction &contraction, const ContractionTile &tile) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(contraction.op->getResult(0).getType()).getShape();
  int64_t tiles = countTiles(shape, contraction.mAxis, tile);
  return tiles >= kManyTiles || tiles * partsOfK(contraction) >= kPartsPerTile * kManyTiles;
}

// The size, rounded up to tiles of the smallest size; a dynamic one counts as one of them.
static int64_t roundedUp(int64_t size, int64_t smallest) {
  return ShapedType::isDynamic(size) ? smallest : int64_t(llvm::alignTo(size, smallest));
}

// Narrow tiles are for few rows or few columns, all of which one has.
static bool isNarrow(const ContractionTile &tile, int64_t side) { return std::min(tile.m, tile.n) < side; }

// Whether a narrow tile has all rows or columns of the result, and is as long as the other side, rounded up
// to `side`; a dynamic size is long.
static bool fitsNarrow(const ContractionTile &tile, int64_t m, int64_t n, int64_t side) {
  auto has = [](int64_t extent, int64_t size) { return !ShapedType::isDynamic(size) && size <= extent; };
  auto fills = [&](int64_t extent, int64_t size) {
    return ShapedType::isDynamic(size) || extent <= int64_t(llvm::alignTo(size, side));
  };
  return tile.m < tile.n ? has(tile.m, m) && fills(tile.n, n) : has(tile.n, n) && fills(tile.m, m);
}

// Whether rows of an operand of `mma.sync` are shifted in shared memory, for which the tiles of the largest
// warps leave no room (OperandStaging.cpp).
static bool shiftsRows(const Contraction &contraction) {
  auto isUnaligned = [](OpOperand *operand) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    int64_t bits = type.getElementTypeBitWidth();
    return isa<BlockArgument>(operand->get()) && bits < 8 * kMinCopyBytes &&
           !type.isDynamicDim(type.getRank() - 1) && type.getShape().back() * bits % (8 * kMinCopyBytes) != 0;
  };
  return contraction.instruction == MathInstruction::MmaSync &&
         (isUnaligned(contraction.operandA) || isUnaligned(contraction.operandB));
}

// No tile is wider than the result, rounded up to the smallest width, or has more rows, if their number is
// known. The smallest square is chosen for 64-bit accumulators, and for SIMT code with a dynamic K: there
// each accumulator has more for the blocks of the order, in local memory.
std::optional<ContractionTile> device::chooseTile(const Contraction &contraction, StringRef name) {
  SmallVector<ContractionTile> tiles = tilesFor(contraction);
  if (!name.empty()) {
    auto named = llvm::find_if(tiles, [&](const ContractionTile &tile) { return tile.name() == name; });
    return named == tiles.end() ? std::nullopt : std::optional(*named);
  }
  linalg::GenericOp op = contraction.op;
  auto result = cast<RankedTensorType>(op.getResult(0).getType());
  ContractionTile square = tiles.back();
  int64_t m = result.getDimSize(contraction.mAxis), n = result.getShape().back();
  int64_t width = roundedUp(n, square.n);
  int64_t height = ShapedType::isDynamic(m) ? tiles.front().clusterM() : roundedUp(m, square.m);
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  bool dynamicK = ShapedType::isDynamic(loops[contraction.kLoop]);
  bool small =
      result.getElementTypeBitWidth() > 32 || (dynamicK && contraction.instruction == MathInstruction::Fma);
  bool smallWarps = shiftsRows(contraction) ||
                    (contraction.instruction == MathInstruction::MmaSync && promotionStep(op) != 0);
  bool isEmpty = llvm::is_contained(loops, 0); // takes no time with any tile
  if (contraction.instruction != MathInstruction::Wgmma && !small && !isEmpty &&
      !ShapedType::isDynamicShape(loops)) {
    llvm::erase_if(tiles, [&](const ContractionTile &tile) {
      return (smallWarps && hasLargeWarps(tile)) || tile.n > width || tile.m > height ||
             (isNarrow(tile, square.m) && !fitsNarrow(tile, m, n, square.m));
    });
    if (tiles.front().loadsByTma &&
        countTiles(result.getShape(), contraction.mAxis, tiles.front()) >= kManyWaves * kDefaultSMCount)
      return tiles.front();
    return *llvm::min_element(tiles, [&](const ContractionTile &left, const ContractionTile &right) {
      return estimateClocks(contraction, left) < estimateClocks(contraction, right);
    });
  }
  for (const ContractionTile &tile : ArrayRef(tiles).drop_back()) {
    if (smallWarps && hasLargeWarps(tile))
      continue;
    if (isNarrow(tile, square.m)) {
      if (fitsNarrow(tile, m, n, square.m))
        return tile;
    } else if (!small && occupiesMachine(contraction, tile) && tile.n <= width && tile.m <= height &&
               fillsClusters(result.getShape(), contraction.mAxis, tile)) {
      return tile;
    }
  }
  return square;
}
