// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads of K tiles by the tensor memory accelerator (PTX ISA: cp.async.bulk.tensor), which one thread issues.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMALOADER_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMALOADER_H

#include "TmaStages.h"

namespace mlir::ad::device {

class TmaLoader : public ContractionComponent {
public:
  TmaLoader(ContractionEmitter &emitter, TileMapping &tileMapping, TmaStages &stages)
      : ContractionComponent(emitter), tileMapping(tileMapping), stages(stages) {}

  /// Waits until the stage of the K tile is empty, and loads both operands into it from the step `k` on.
  /// `rank`: the number of the block in its cluster, which may be null without one.
  void loadKTile(const TileOrigin &origin, Value kTile, Value k, Value rank);

private:
  void loadOperand(const TmaOperand &operand, const TileOrigin &origin, Value kTile, Value k, Value rank,
                   Value fullBarrier);

  TileMapping &tileMapping;
  TmaStages &stages;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMALOADER_H
