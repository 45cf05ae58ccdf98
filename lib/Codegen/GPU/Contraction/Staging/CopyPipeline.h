// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The multi-stage pipeline of `cp.async` copies: while a K tile is multiplied, the copies of the next ones
// are in flight (CUTLASS: MainloopSm80CpAsync; PTX ISA: cp.async.commit_group, cp.async.wait_group).

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_COPYPIPELINE_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_COPYPIPELINE_H

#include "KTilePipeline.h"

namespace mlir::ad::device {

class CopyPipeline final : public KTilePipeline {
public:
  using KTilePipeline::KTilePipeline;

  LogicalResult emitPrologue(Value kTiles, LoadKTile load) override;
  FailureOr<SmallVector<Value>> emitMainLoop(Value kTiles, ArrayRef<Value> start, LoadKTile load,
                                             MultiplyKTile multiply) override;
  Value stageOf(Value kTile) override;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_COPYPIPELINE_H
