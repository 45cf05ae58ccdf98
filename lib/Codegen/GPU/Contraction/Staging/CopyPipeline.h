// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The multi-stage pipeline of `cp.async` copies: while a K tile is multiplied, the copies of the next ones
// are in flight (CUTLASS: MainloopSm80CpAsync; PTX ISA: cp.async.commit_group, cp.async.wait_group).

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_COPYPIPELINE_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_COPYPIPELINE_H

#include "../ContractionComponent.h"

namespace mlir::ad::device {

class CopyPipeline : public ContractionComponent {
public:
  using ContractionComponent::ContractionComponent;

  /// Starts the copies of a K tile into its stage.
  using LoadKTile = function_ref<LogicalResult(Value kTile)>;
  /// Adds the product of a K tile to the accumulators.
  using MultiplyKTile = function_ref<FailureOr<SmallVector<Value>>(Value kTile, ValueRange accumulators)>;
  /// Starts the copies of the first K tiles.
  LogicalResult emitPrologue(Value kTiles, LoadKTile load);
  /// Emits the loop over K tiles; returns the accumulators after it.
  FailureOr<SmallVector<Value>> emitMainLoop(Value kTiles, ArrayRef<Value> start, LoadKTile load,
                                             MultiplyKTile multiply);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_COPYPIPELINE_H
