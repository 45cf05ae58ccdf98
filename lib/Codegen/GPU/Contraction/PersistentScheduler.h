// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The persistent tile scheduler of warp-specialized kernels (CUTLASS: PersistentTileSchedulerSm90): a block
// computes one output tile after another, so that loads of the next tile overlap with the epilogue.
// Producer and consumers iterate over the same tiles and count K tiles alike.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PERSISTENTSCHEDULER_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PERSISTENTSCHEDULER_H

#include "TileMapping.h"

namespace mlir::ad::device {

class PersistentScheduler : public ContractionComponent {
public:
  PersistentScheduler(ContractionEmitter &emitter, TileMapping &tileMapping)
      : ContractionComponent(emitter), tileMapping(tileMapping) {}

  /// Code for an output tile of the block, after `before` K tiles of earlier ones.
  using TileCode = function_ref<LogicalResult(const TileOrigin &origin, Value before)>;
  LogicalResult forEachTile(TileCode code);
  Value kTileCount();
  /// Emits the number of the block in its cluster.
  void bindCluster();
  Value blockInCluster() const { return rank; }
  /// A barrier of the cluster; the threads of a warp may arrive at different times.
  void synchronizeCluster();

private:
  TileMapping &tileMapping;
  Value rank;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PERSISTENTSCHEDULER_H
