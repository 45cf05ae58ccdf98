// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pipeline of K tiles that TMA loads for all warps of a block: threads of the warps issue the loads by
// turns, each warp waits for the K tiles at mbarriers and releases their stages, and no barrier joins the
// warps (MbarrierPipeline.h). K tiles are counted over all output tiles of the block.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMAPIPELINE_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMAPIPELINE_H

#include "KTilePipeline.h"
#include "TmaLoader.h"

namespace mlir::ad::device {

class TmaPipeline final : public KTilePipeline {
public:
  TmaPipeline(ContractionEmitter &emitter, TileMapping &tileMapping, OperandStaging &staging)
      : KTilePipeline(emitter), staging(staging), stages(emitter, staging),
        loader(emitter, tileMapping, stages) {}

  /// Lays out shared memory, adds the tensor maps of the operands as arguments, and initializes the
  /// mbarriers.
  LogicalResult prepare();
  /// Loads a K tile of the origin's part of K.
  void load(const TileOrigin &origin, Value kTile);
  /// A barrier after which TMA may overwrite what threads wrote to the stages.
  void reuseStages();
  LogicalResult emitPrologue(Value kTiles, LoadKTile load) override;
  FailureOr<SmallVector<Value>> emitMainLoop(Value kTiles, ArrayRef<Value> start, LoadKTile load,
                                             MultiplyKTile multiply) override;
  Value stageOf(Value kTile) override;

  /// K tiles that the block has loaded before the loop that is being emitted, and after it.
  Value before, after;

private:
  Value numberOf(Value kTile) { return binary<arith::AddIOp>(before, kTile); }
  Value isIssuer(Value kTile);
  void release(Value kTile);

  OperandStaging &staging;
  TmaStages stages;
  TmaLoader loader;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMAPIPELINE_H
