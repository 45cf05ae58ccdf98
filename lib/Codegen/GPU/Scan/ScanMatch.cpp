// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ScanMatch.h"
#include "../../Kernel/Reduction/ScanEmitter.h"
#include "ScanShape.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using namespace mlir::ad::codegen;

// What a step combines with the accumulator; null if that is no single value.
static Value combinedValue(linalg::GenericOp op) {
  Operation *combiner = combiningOp(op);
  if (!combiner || isa<math::FmaOp>(combiner))
    return nullptr;
  bool isFirst = combiner->getOperand(0) == op.getRegionOutputArgs().back();
  return combiner->getOperand(isFirst ? 1 : 0);
}

int64_t TiledScan::threadsPerBlock() const {
  if (!hasSquares())
    return kBlockThreads;
  return columns == 1 || elementBytes() > 4 ? kThreadsOfRows : kThreadsOfColumns;
}

int64_t TiledScan::elementBytes() const { return memoryBytes(getElementTypeOrSelf(op->getResult(1))); }

// As many columns of padding as a step has, so that the threads of a warp access different banks both where
// they have adjacent elements and where each has a chain.
int64_t TiledScan::bytesOfSquare() const {
  return runsOfSquare() * columns * (kStepsOfSquare + 1) * elementBytes();
}

int64_t TiledScan::runsOfBlock() const {
  return hasSquares() ? threadsPerBlock() / kWarpThreads * runsOfSquare() : kBlockThreads / kWarpThreads;
}

static int64_t lengthOf(const TiledScan &scan) {
  return linalg::GenericOp(scan.op).getStaticLoopRanges()[scannedDim(scan.op)];
}

// Of a chain in a thread block: the most, if the length is not known.
static int64_t blocksOfChain(const TiledScan &scan) {
  int64_t length = lengthOf(scan);
  if (ShapedType::isDynamic(length))
    return scan.blocksOfPart;
  return std::clamp<int64_t>(llvm::divideCeil(length, scan.block), 1, scan.blocksOfPart);
}

int64_t TiledScan::countOfTotals() const {
  int64_t blocks = blocksOfChain(*this);
  return hasSquares() ? std::max(runsOfBlock(), blocks) * columns
                      : std::max(kBlockThreads, blocks * kWarpThreads);
}

int64_t TiledScan::countOfTileTotals() const {
  int64_t tiles = llvm::divideCeil(lengthOf(*this), block * blocksOfTile);
  return tiles * bundlesPerBlock(*this) * std::max<int64_t>(columns, 1);
}

// The product of the axes after the scanned one, if those are few columns; else 0.
static int64_t alternatingChains(linalg::GenericOp op) {
  if (isContiguousScan(op))
    return 1;
  AffineMap steps = stepMapOf(op), chains = op.getMatchingIndexingMap(op.getDpsInitOperand(1));
  auto type = cast<RankedTensorType>(op.getDpsInits()[0].getType());
  std::optional<unsigned> axis = steps.getResultPosition(getAffineDimExpr(scannedDim(op), op.getContext()));
  if (!axis || !steps.isPermutation() || steps.dropResult(*axis) != chains)
    return 0;
  int64_t count = 1;
  for (int64_t size : type.getShape().drop_front(*axis + 1)) {
    if (ShapedType::isDynamic(size) || size == 0 || (count *= size) > kMaxColumns)
      return 0;
  }
  return count;
}

// Lanes of a warp exchange what is combined, and what becomes the result, as one value each.
static std::string whyNotTiled(const TiledScan &scan, bool readsNext) {
  linalg::GenericOp op = scan.op;
  if (!scan.combined)
    return "its steps do not combine the accumulator with one value";
  if (scan.readsBefore && readsNext)
    return "its results are made from the accumulator before the step and after it";
  bool readsReductions = llvm::any_of(op.getDpsInputs(), [](Value input) {
    return isa<RankedTensorType>(input.getType()) && dependsOn(input, reduces);
  });
  if (readsReductions)
    return "it reads a reduction of the same kernel";
  if (!getElementTypeOrSelf(op.getResult(1)).isIntOrFloat())
    return "its accumulator is no number";
  if (scan.block % kStepsOfSquare != 0)
    return "the blocks of its order are no multiple of " + std::to_string(kStepsOfSquare);
  if (scan.blocksOfTile > kThreadsOfRows)
    return "a tile of its order has more than " + std::to_string(kThreadsOfRows) + " blocks";
  return "";
}

static int64_t sharedBytes(const TiledScan &scan) {
  int64_t totals = scan.countOfTotals() + (scan.dividesTiles() ? scan.countOfTileTotals() : 0);
  int64_t squares = scan.hasSquares() ? scan.threadsPerBlock() / kWarpThreads * scan.bytesOfSquare() : 0;
  return squares + totals * scan.elementBytes();
}

// Groups of chains, each of which has a thread block if tiles are not divided; dynamic if a size is.
static int64_t countGroups(const TiledScan &scan) {
  auto chains = cast<RankedTensorType>(linalg::GenericOp(scan.op).getDpsInits()[1].getType());
  if (!chains.hasStaticShape() || ShapedType::isDynamic(lengthOf(scan)))
    return ShapedType::kDynamic;
  return llvm::divideCeil(chains.getNumElements(),
                          bundlesPerBlock(scan) * std::max<int64_t>(scan.columns, 1));
}

// Parts of tiles where those are fewer than multiprocessors, but at least as many blocks as a thread block
// computes at a time. For less than a tile, the second kernel pays only where most multiprocessors would be
// idle for several turns.
static int64_t choosePart(TiledScan scan) {
  int64_t length = lengthOf(scan), groups = countGroups(scan);
  if (ShapedType::isDynamic(groups))
    return scan.blocksOfTile;
  bool isLong = length > scan.block * scan.blocksOfTile;
  bool pays = groups * 2 < kDefaultSMCount && blocksOfChain(scan) >= kMinTurns * scan.runsOfBlock();
  if (!isLong && !pays)
    return scan.blocksOfTile;
  auto areFew = [&] {
    return groups * llvm::divideCeil(length, scan.block * scan.blocksOfPart) < kDefaultSMCount;
  };
  while (areFew() && scan.blocksOfPart > scan.runsOfBlock() && scan.blocksOfPart % 2 == 0)
    scan.blocksOfPart /= 2;
  return sharedBytes(scan) <= kSharedBytes ? scan.blocksOfPart : scan.blocksOfTile;
}

// Where columns do not divide a warp, squares whose chains end in the middle of a block cost more than they
// save. So each thread block has one bundle then, in which only the last square is such a one, or there is
// none.
static bool squaresPay(const TiledScan &scan) {
  int64_t length = lengthOf(scan);
  bool areWhole = !ShapedType::isDynamic(length) &&
                  (length % scan.block == 0 || blocksOfChain(scan) >= scan.runsOfBlock());
  return sharedBytes(scan) <= kSharedBytes && (kWarpThreads % scan.columns == 0 || areWhole);
}

std::optional<TiledScan> device::matchTiledScan(KernelOp kernel, std::string &reason) {
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  linalg::GenericOp op = outputs.size() == 1 ? scanOf(outputs.front()) : linalg::GenericOp();
  OrderAttr order = kernel.getOrderAttr();
  if (!op)
    reason = "it has other results than one running reduction";
  else if (!order || !order.hasNestedChains())
    reason = "its order is one chain";
  if (!op || !order || !order.hasNestedChains())
    return std::nullopt;
  StepOperands result = operandsOfStep(op);
  int64_t blocksOfTile = order.getTileLength() / order.getPartLength();
  TiledScan scan{op,
                 order.getPartLength(),
                 blocksOfTile,
                 /*blocksOfPart=*/blocksOfTile,
                 alternatingChains(op),
                 result.before,
                 combinedValue(op)};
  reason = whyNotTiled(scan, result.next);
  if (!reason.empty())
    return std::nullopt;
  if (scan.columns > 1 && !squaresPay(scan))
    scan.columns = 0;
  scan.blocksOfPart = choosePart(scan);
  return scan;
}

int64_t device::bundlesPerBlock(const TiledScan &scan) {
  int64_t blocks = blocksOfChain(scan);
  return scan.hasSquares() ? std::max<int64_t>(scan.runsOfBlock() / blocks, 1)
                           : std::max(kWarpThreads, kBlockThreads / blocks);
}

std::optional<Division> device::divideScan(const TiledScan &scan) {
  int64_t length = lengthOf(scan), groups = countGroups(scan);
  bool isLong = ShapedType::isDynamic(length) || length > scan.block * scan.blocksOfPart;
  bool areFew = ShapedType::isDynamic(groups) || groups < kDefaultSMCount * kMinBlocksPerSM;
  if (!isLong || !areFew)
    return std::nullopt;
  Division division;
  division.reductions = {scan.op};
  division.always = !ShapedType::isDynamic(groups);
  return division;
}
