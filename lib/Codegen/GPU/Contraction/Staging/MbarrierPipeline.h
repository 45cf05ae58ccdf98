// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Full and empty mbarriers of the producer–consumer pipeline between the TMA warp and the consumer warpgroups
// (CUTLASS: PipelineTmaAsync; PTX ISA: mbarrier). The pipeline is independent of the contents of the stages.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_MBARRIERPIPELINE_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_MBARRIERPIPELINE_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::device {

/// Stages of shared memory for a sequence of K tiles: K tile n is in stage n modulo their number. The
/// producer fills a stage again when every consumer has released it. Each stage has two mbarriers, full and
/// empty. Blocks of a cluster that load into each other's stages have pipelines of the same shape: a stage is
/// then empty when it is empty in all of them.
class MbarrierPipeline {
public:
  struct Shape {
    int64_t stages;
    int64_t stageBytes;
    int64_t consumers;      // warpgroups
    int64_t barriersOffset; // bytes from the first stage to the mbarriers
    int64_t clusterSize;    // blocks
  };
  /// Emits code where `builder` is. `memory` points to the first stage.
  MbarrierPipeline(OpBuilder &builder, Location loc, Value memory, const Shape &shape)
      : builder(builder), loc(loc), memory(memory), shape(shape) {}

  /// Bytes of the mbarriers.
  static int64_t barrierBytes(int64_t stages);
  /// Initializes the mbarriers: executed by one thread, before a barrier of the block or cluster.
  void initialize();
  /// The address of a byte of the K tile's stage.
  Value pointerTo(Value kTile, Value byte);

  /// Producer: waits until the stage is empty, and expects the bytes of the whole stage. Returns the full
  /// mbarrier, at which the copies of the K tile complete.
  Value acquire(Value kTile);
  /// Consumer: waits until the K tile has arrived.
  void waitFull(Value kTile);
  /// Consumer: releases the stage to the producer of a block of the cluster. Executed by one thread of each
  /// consumer for each block, after the last read of the K tile.
  void release(Value kTile, Value block);

private:
  Value index(int64_t value);
  Value pointerAt(Value byte);
  Value fullBarrier(Value kTile) { return barrierOf(kTile, 0); }
  Value emptyBarrier(Value kTile) { return barrierOf(kTile, shape.stages); }
  Value barrierOf(Value kTile, int64_t first);
  Value parityOf(Value kTile, int64_t shift);
  void wait(Value barrier, Value parity);

  OpBuilder &builder;
  Location loc;
  Value memory;
  const Shape shape;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_MBARRIERPIPELINE_H
