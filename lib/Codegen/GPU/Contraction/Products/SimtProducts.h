// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions by FMA in the order of the kernel (SIMT): each thread has accumulators for some rows and
// columns of the tile and continues their chains K tile by K tile. Chains of blocks are joined by the order's
// tree (Kernel/PairwiseTree.cpp).

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_SIMTPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_SIMTPRODUCTS_H

#include "../Epilogue.h"
#include "../Staging/CopyPipeline.h"
#include "../Staging/PaddedStaging.h"

namespace mlir::ad::device {

class SimtProducts : public ContractionComponent {
public:
  SimtProducts(ContractionEmitter &emitter, TileMapping &tileMapping, OperandStaging &staging,
               CopyPipeline &pipeline, Epilogue &epilogue)
      : ContractionComponent(emitter), tileMapping(tileMapping), staging(staging), pipeline(pipeline),
        epilogue(epilogue), padded(emitter, staging) {}

  /// Computes and stores a tile of the result.
  LogicalResult emit(const TileOrigin &origin);
  int64_t stageElements(const StagedOperand &part) { return padded.stageElements(part); }

private:
  /// The loops of the contraction at each element of the thread, and the accumulators.
  using Loops = ArrayRef<SmallVector<Index>>;
  FailureOr<SmallVector<Value>> sumRange(const TileOrigin &origin, Loops loops, ArrayRef<Value> start,
                                         Value lower, Value upper);
  FailureOr<SmallVector<Value>> sumKTile(Loops loops, ValueRange accumulators, Value k, Value steps,
                                         Value stage);
  FailureOr<SmallVector<Value>> sumPartialKTile(Loops loops, ValueRange accumulators, Value k, Value steps,
                                                Value stage);
  FailureOr<SmallVector<Value>> sumStep(Loops loops, ValueRange accumulators, Value k, Value step,
                                        Value stage);
  void loadOperand(const StagedOperand &part, Loops loops, Value k, Value step, Value stage);
  LogicalResult emitEpilogue(const TileOrigin &origin, ValueRange accumulators);
  int64_t threadsM() const; // of a block
  int64_t threadsN() const;
  int64_t warpThreadsN() const; // of a warp
  Value elementOf(Value thread, int64_t threads, int64_t number);
  Value rowOf(int64_t number);
  Value columnOf(int64_t number);

  TileMapping &tileMapping;
  OperandStaging &staging;
  CopyPipeline &pipeline;
  Epilogue &epilogue;
  PaddedStaging padded;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_SIMTPRODUCTS_H
