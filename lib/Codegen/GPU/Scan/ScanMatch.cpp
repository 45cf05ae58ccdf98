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
  TiledScan scan{op,
                 order.getPartLength(),
                 order.getTileLength() / order.getPartLength(),
                 isContiguousScan(op),
                 result.before,
                 combinedValue(op)};
  reason = whyNotTiled(scan, result.next);
  return reason.empty() ? std::optional(scan) : std::nullopt;
}

int64_t device::chainsPerBlock(const TiledScan &scan, int64_t length) {
  int64_t blocks = ShapedType::isDynamic(length) ? scan.blocksOfTile : llvm::divideCeil(length, scan.block);
  blocks = std::clamp<int64_t>(blocks, 1, scan.blocksOfTile);
  if (scan.isContiguous)
    return kThreadsOfRows / blocks;
  return std::max(kWarpThreads, kBlockThreads / blocks);
}

std::optional<Division> device::divideScan(const TiledScan &scan) {
  int64_t length = linalg::GenericOp(scan.op).getStaticLoopRanges()[scannedDim(scan.op)];
  auto chains = cast<RankedTensorType>(linalg::GenericOp(scan.op).getDpsInits()[1].getType());
  bool isLong = ShapedType::isDynamic(length) || length > scan.block * scan.blocksOfTile;
  bool areFew = !chains.hasStaticShape() ||
                chains.getNumElements() < kDefaultSMCount * kMinBlocksPerSM * chainsPerBlock(scan, length);
  if (!isLong || !areFew)
    return std::nullopt;
  Division division;
  division.reductions = {scan.op};
  division.always = chains.hasStaticShape() && !ShapedType::isDynamic(length);
  return division;
}
