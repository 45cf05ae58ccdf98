// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TmaStages.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

MbarrierPipeline TmaStages::pipeline() {
  return {builder, loc, shared, {tile.stages, stageBytes(), consumers(), barriersOffset(), tile.clusterSize}};
}

// The first loads would wait for their tensor maps, so these are prefetched.
void TmaStages::initialize() {
  (void)emitIf(isEqual(mapping.threadInBlock, 0), [&] {
    for (const TmaOperand &operand : operands)
      NVVM::PrefetchOp::create(builder, loc, NVVM::PrefetchCacheLevelAttr(),
                               NVVM::CacheEvictionPriorityAttr(), operand.tensorMap, /*predicate=*/Value(),
                               /*tensormap=*/true, /*uniform=*/false, /*in_param_space=*/true);
    pipeline().initialize();
    return success();
  });
}

StagedOperand TmaStages::stagedOperand(const TmaOperand &operand, int64_t stageBytes) {
  StagedOperand part = operand.part;
  part.offset = operand.offset;
  part.stageStride = stageBytes;
  part.slabRowBytes = kSwizzleBytes;
  return part;
}

// Blocks of a cluster have the same columns, so they share the loads of B.
LogicalResult TmaStages::addOperands() {
  assert(tile.k * elementBytes() == kSwizzleBytes && "a K-major staged row holds a K tile");
  if (failed(add(staging.planA(), /*multicastParts=*/1)) || failed(add(staging.planB(), tile.clusterSize)))
    return failure();
  return success();
}

// Tensor maps are passed by value, as the last arguments: the driver copies them for each launch, and neither
// it nor the emulator needs memory for them (decision 0010).
LogicalResult TmaStages::add(const StagedOperand &part, int64_t multicastParts) {
  SwizzledTile swizzled{part.extent, tile.k, part.kMajor, elementBytes()};
  int64_t offset = operands.empty() ? 0 : operands.back().offset + operands.back().tile.bytes();
  unsigned number = function.getNumArguments();
  if (failed(function.insertArgument(number, LLVM::LLVMPointerType::get(builder.getContext()),
                                     builder.getDictionaryAttr({}), loc)))
    return function.emitOpError("takes no further argument");
  operands.push_back({part, swizzled, multicastParts, function.getArgument(number), offset});
  launchShape.tensorMaps.push_back(tensorMapOf(operands.back()));
  return success();
}

// The box is the size of one load along each axis of the operand. TMA rounds f32 to tf32; `wgmma` would cut
// off the low bits.
TensorMapAttr TmaStages::tensorMapOf(const TmaOperand &operand) {
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(operand.part.operand);
  SmallVector<int64_t> box;
  for (unsigned axis = 0; axis < map.getNumResults(); ++axis) {
    unsigned loop = map.getDimPosition(axis);
    box.push_back(loop == contraction.kLoop   ? operand.tile.k
                  : loop == operand.part.loop ? operand.multicastPart().slabExtent()
                                              : 1);
  }
  auto argument = cast<BlockArgument>(operand.part.operand->get());
  return TensorMapAttr::get(builder.getContext(), argument.getArgNumber(), box, kSwizzleBytes,
                            /*tf32=*/operandType().isF32());
}
