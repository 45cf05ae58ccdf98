// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A pipeline of K tiles in shared memory: while a K tile is multiplied, the next ones are loaded into other
// stages.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_KTILEPIPELINE_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_KTILEPIPELINE_H

#include "../ContractionComponent.h"

namespace mlir::ad::device {

class KTilePipeline : public ContractionComponent {
public:
  using ContractionComponent::ContractionComponent;
  virtual ~KTilePipeline() = default;

  /// Starts the loads of a K tile into its stage.
  using LoadKTile = function_ref<LogicalResult(Value kTile)>;
  /// Adds the product of a K tile to the accumulators.
  using MultiplyKTile = function_ref<FailureOr<SmallVector<Value>>(Value kTile, ValueRange accumulators)>;
  /// Starts the loads of the first K tiles.
  virtual LogicalResult emitPrologue(Value kTiles, LoadKTile load) = 0;
  /// Emits the loop over K tiles; returns the accumulators after it.
  virtual FailureOr<SmallVector<Value>> emitMainLoop(Value kTiles, ArrayRef<Value> start, LoadKTile load,
                                                     MultiplyKTile multiply) = 0;
  /// The stage of a K tile of the loop that is being emitted.
  virtual Value stageOf(Value kTile) = 0;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_KTILEPIPELINE_H
