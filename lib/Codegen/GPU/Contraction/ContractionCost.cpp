// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionCost.h"
#include "ContractionDivision.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include <cmath>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

namespace {
/// Clocks: `busy` of the units of a multiprocessor, `waits` of a warp that has one to itself.
struct Clocks {
  double busy = 0, waits = 0;
  Clocks operator+(Clocks other) const { return {busy + other.busy, waits + other.waits}; }
  Clocks operator*(double times) const { return {busy * times, waits * times}; }
};
} // namespace

// Of a multiprocessor per clock: warp instructions that it issues in practice, bytes of shared memory, and
// products of 16-bit floats by `mma.sync` in practice.
static constexpr double kIssues = 3, kSharedBytes = 128, kProducts = 1270;
// Clocks that a warp waits: for operands from shared memory in a step of K and for products of tensor cores,
// for operands from memory, and for the result of an elementary function, which has so many instructions.
static constexpr double kStepWaits = 75, kMemoryWaits = 800, kFunctionWaits = 400, kFunctionIssues = 90;
// With so many warps, what they wait for and what they do overlap half.
static constexpr double kHidingWarps = 16;
// Clocks from one kernel to the next, and bytes of nodes per clock that a multiprocessor reads and writes.
static constexpr double kLaunch = 4000, kNodeBytes = 32;
// A vector of the epilogue has so many elements, of which each takes some instructions beside the fusion's.
static constexpr int64_t kVector = 4, kEpilogueIssues = 5;

// A byte that is copied to shared memory passes L1 first.
static double copyClocks(const ContractionTile &tile, double bytesOfK) {
  return 2 * double(tile.m + tile.n) * bytesOfK / kSharedBytes;
}

// One step of K. A thread reads its rows and columns in vectors; copies take three instructions per element
// where K is the contiguous axis.
static Clocks fmaStep(const ContractionTile &tile, int64_t elementBytes) {
  double products = double(tile.m * tile.n) / double(tile.threads), side = std::sqrt(products);
  double warps = double(tile.threads) / kWarpThreads;
  double copies = 3 * double(tile.m + tile.n) / double(tile.threads);
  double issue = warps * (products + side / 2 + copies) / kIssues;
  double shared = warps * kWarpThreads * 2 * side * 4 / kSharedBytes +
                  copyClocks(tile, static_cast<double>(elementBytes));
  return {std::max(issue, shared), products + kStepWaits};
}

// The products of one instruction along K, which are 32 bytes of it.
static Clocks mmaStep(const ContractionTile &tile) {
  constexpr double bytes = 32, halves = 16;
  double warps = double(tile.threads) / kWarpThreads;
  double rows = double(tile.m) / double(tile.warpsM), columns = double(tile.n) / double(tile.warpsN);
  double products = double(tile.m * tile.n) * halves;
  double shared = warps * (rows + columns) * bytes / kSharedBytes;
  shared += tile.loadsByTma ? 0 : copyClocks(tile, bytes);
  return {std::max(products / kProducts, shared), products / warps / (kProducts / 4) + kStepWaits};
}

// The fusion's operations after the product, by vectors of each thread, one after the other.
static Clocks epilogueOf(const Contraction &contraction, const ContractionTile &tile) {
  auto kernel = contraction.op->getParentOfType<KernelOp>();
  double functions = 0, others = kEpilogueIssues;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    if (generic != contraction.op)
      for (Operation &op : generic.getBlock()->without_terminator())
        ++(isa<ElementaryOp>(op) ? functions : others);
  bool reads = kernel.getNumArguments() > 2;
  double issues = others + functions * kFunctionIssues;
  double ofVector = (reads ? kMemoryWaits : 0) + kVector * (others + functions * kFunctionWaits);
  double elements = double(tile.m * tile.n);
  return {elements * issues / kWarpThreads / kIssues, elements / double(tile.threads) / kVector * ofVector};
}

double device::estimateClocks(const Contraction &contraction, const ContractionTile &tile) {
  linalg::GenericOp op = contraction.op;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  int64_t elementBytes =
      getElementTypeOrSelf(contraction.operandA->get().getType()).getIntOrFloatBitWidth() / 8;
  int64_t k = op.getStaticLoopRanges()[contraction.kLoop];
  bool isFma = contraction.instruction == MathInstruction::Fma;
  int64_t nodes = nodeCount(contraction, tile);
  int64_t blocks = countTiles(shape, contraction.mAxis, tile) * nodes;
  int64_t ofSM = llvm::divideCeil(blocks, kDefaultSMCount);
  int64_t resident = std::min<int64_t>(ofSM, tile.blocksPerSM), waves = llvm::divideCeil(ofSM, resident);
  double steps = std::ceil(double(k) / double(nodes) * (isFma ? 1 : double(elementBytes) / 32));
  Clocks block =
      (isFma ? fmaStep(tile, elementBytes) : mmaStep(tile)) * steps + epilogueOf(contraction, tile);
  double busy = block.busy * double(ofSM), waits = block.waits * double(waves);
  double exponent = 1 + double(resident * tile.threads / kWarpThreads) / kHidingWarps;
  double clocks = std::pow(std::pow(busy, exponent) + std::pow(waits, exponent), 1 / exponent);
  if (nodes == 1)
    return clocks;
  double bytes = 2 * 4 * double(ShapedType::getNumElements(shape)) * double(nodes);
  return clocks + kLaunch + bytes / kNodeBytes / kDefaultSMCount;
}
