// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel of a contraction by SIMT code or by `mma.sync`: a block computes output tiles in a grid-stride
// loop, and all its threads copy and multiply.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONKERNEL_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONKERNEL_H

#include "Products/SimtProducts.h"
#include "Products/TensorCoreProducts.h"

namespace mlir::ad::device {

class ContractionKernel : public ContractionComponent {
public:
  ContractionKernel(ContractionEmitter &emitter, TileMapping &tileMapping, OperandStaging &staging,
                    Epilogue &epilogue)
      : ContractionComponent(emitter), tileMapping(tileMapping), staging(staging), epilogue(epilogue),
        pipeline(emitter), simt(emitter, tileMapping, staging, pipeline, epilogue),
        tensorCores(emitter, tileMapping, staging, pipeline, epilogue) {}

  LogicalResult emit();
  /// The nodes of a divided K instead of the results.
  LogicalResult emitNodes();

private:
  void prepare();
  LogicalResult emitTile(const TileOrigin &origin);
  int64_t layOutSharedMemory();

  TileMapping &tileMapping;
  OperandStaging &staging;
  Epilogue &epilogue;
  CopyPipeline pipeline;
  SimtProducts simt;
  TensorCoreProducts tensorCores;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONKERNEL_H
