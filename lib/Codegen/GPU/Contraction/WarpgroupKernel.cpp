// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "WarpgroupKernel.h"
#include "../Generic/SharedMemory.h"
#include "ContractionEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Registers per thread with two consumer warpgroups: the producer releases those that it does not need
// (PTX ISA: setmaxnreg).
static constexpr int64_t kLaunchRegisters = 168, kProducerRegisters = 40, kConsumerRegisters = 232;
static_assert(kProducerRegisters + 2 * kConsumerRegisters <= 3 * kLaunchRegisters, "a block has no more");
static_assert(3 * kLaunchRegisters * kWarpgroupThreads <= kRegistersPerSM, "a block is launched");

LogicalResult WarpgroupKernel::emit() {
  tileMapping.bindSizes();
  if (failed(stages.addOperands()))
    return failure();
  describeLaunch();
  emitPrologue();
  auto produce = [&] {
    setMaxRegisters(/*ofProducer=*/true);
    return emitIf(isEqual(mapping.threadInBlock, 0), [&] { return producer.emit(); });
  };
  auto consume = [&] {
    setMaxRegisters(/*ofProducer=*/false);
    return consumer.emit(warpgroup);
  };
  if (failed(emitIf(isEqual(warpgroup, 0), produce, consume)))
    return failure();
  // Another block may still arrive at mbarriers of this one.
  if (tile.clusterSize > 1)
    scheduler.synchronizeCluster();
  return success();
}

void WarpgroupKernel::describeLaunch() {
  tileMapping.setGrid();
  launchShape.persistentBlocks = emitter.minBlocksPerSM();
  launchShape.threadsPerBlock = tile.threads;
  launchShape.dynamicSharedBytes = stages.totalBytes();
}

// A shuffle makes the number uniform in each warp, so that the compiler knows that the warp does not diverge.
Value WarpgroupKernel::warpgroupOfThread() {
  Value number = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpgroupThreads));
  number = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
  number =
      ::mlir::gpu::ShuffleOp::create(builder, loc, number, 0, kWarpThreads, ::mlir::gpu::ShuffleMode::IDX)
          .getShuffleResult();
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
}

void WarpgroupKernel::emitPrologue() {
  shared = sharedMemory(builder, function, /*bytes=*/0, "shared", kTileAlignment);
  warpgroup = warpgroupOfThread();
  stages.initialize();
  scheduler.bindCluster();
  if (tile.clusterSize > 1)
    scheduler.synchronizeCluster();
  else
    mapping.synchronizeBlock();
}

void WarpgroupKernel::setMaxRegisters(bool ofProducer) {
  if (tile.consumerWarpgroups > 1)
    NVVM::SetMaxRegisterOp::create(
        builder, loc, static_cast<uint32_t>(ofProducer ? kProducerRegisters : kConsumerRegisters),
        ofProducer ? NVVM::SetMaxRegisterAction::decrease : NVVM::SetMaxRegisterAction::increase);
}
