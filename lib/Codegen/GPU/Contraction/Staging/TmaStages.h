// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The layout of kernels whose K tiles TMA loads: shared memory (the stages of the pipeline, the accumulators
// of the epilogue, the mbarriers), the operands in each stage and their tensor maps.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMASTAGES_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMASTAGES_H

#include "MbarrierPipeline.h"
#include "OperandStaging.h"
#include "SwizzledTile.h"

namespace mlir::ad::device {

/// Operand A or B, as TMA loads it.
struct TmaOperand {
  StagedOperand part;
  SwizzledTile tile;      // in each stage
  int64_t multicastParts; // the blocks of a cluster that load equal parts of the tile for each other
  Value tensorMap;        // an argument of the kernel
  int64_t offset;         // bytes from the start of a stage
  /// What the block loads itself.
  SwizzledTile multicastPart() const {
    return {tile.extent / multicastParts, tile.k, tile.kMajor, tile.elementBytes};
  }
};

class TmaStages : public ContractionComponent {
public:
  /// Accumulators that a warp stages in one pass of the epilogue: its 16 rows by some columns.
  static constexpr int64_t kEpilogueRows = 16, kEpilogueColumns = 32,
                           kEpilogueBytes = kEpilogueRows * kEpilogueColumns * 4;

  TmaStages(ContractionEmitter &emitter, OperandStaging &staging)
      : ContractionComponent(emitter), staging(staging) {}

  /// Adds the tensor maps of both operands as arguments of the kernel.
  LogicalResult addOperands();
  SmallVector<TmaOperand, 2> operands; // A and B
  /// Prefetches the tensor maps and initializes the mbarriers, by one thread; before a barrier of the block
  /// or cluster.
  void initialize();

  int64_t elementBytes() const { return memoryBytes(operandType()); }
  int64_t stageBytes() const { return (tile.m + tile.n) * tile.k * elementBytes(); }
  /// Warpgroups of `wgmma`, which release a stage together, or warps.
  int64_t consumers() const {
    return tile.consumerWarpgroups ? tile.consumerWarpgroups : tile.threads / kWarpThreads;
  }
  /// Warps of `wgmma` that stage accumulators next to the K tiles.
  int64_t warpCount() const { return tile.consumerWarpgroups * kWarpgroupThreads / kWarpThreads; }
  /// The operand as fragments of `mma.sync` read it.
  static StagedOperand stagedOperand(const TmaOperand &operand, int64_t stageBytes);
  int64_t accumulatorsOffset() const { return tile.stages * stageBytes(); }
  int64_t barriersOffset() const { return accumulatorsOffset() + warpCount() * kEpilogueBytes; }
  int64_t totalBytes() const { return barriersOffset() + MbarrierPipeline::barrierBytes(tile.stages); }
  MbarrierPipeline pipeline();

private:
  LogicalResult add(const StagedOperand &part, int64_t multicastParts);
  TensorMapAttr tensorMapOf(const TmaOperand &operand);

  OperandStaging &staging;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMASTAGES_H
