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
        copies(emitter), tma(emitter, tileMapping, staging),
        simt(emitter, tileMapping, staging, copies, epilogue),
        tensorCores(emitter, tileMapping, staging, copies, tma, epilogue) {}

  LogicalResult emit();
  /// The nodes of a divided K instead of the results.
  LogicalResult emitNodes();

private:
  LogicalResult prepare();
  LogicalResult forEachTile(Value count, function_ref<LogicalResult(Value number)> code);
  LogicalResult emitTile(const TileOrigin &origin);
  int64_t layOutSharedMemory();

  TileMapping &tileMapping;
  OperandStaging &staging;
  Epilogue &epilogue;
  CopyPipeline copies;
  TmaPipeline tma;
  SimtProducts simt;
  TensorCoreProducts tensorCores;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONKERNEL_H
