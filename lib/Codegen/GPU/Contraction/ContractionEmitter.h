// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions on a GPU: a thread block computes tiles of the result, whose operands are staged in shared
// memory. Two drivers emit the kernel: ContractionKernel for SIMT code and `mma.sync`, WarpgroupKernel for
// `wgmma`. Each part of a kernel is a component; this class owns them.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONEMITTER_H

#include "ContractionKernel.h"
#include "WarpgroupKernel.h"

namespace mlir::ad::device {

class ContractionEmitter : public GPUKernelEmitter {
public:
  ContractionEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Contraction &contraction,
                     const ContractionTile &tile);

  int64_t minBlocksPerSM() const override;
  int64_t maxRegisters() const override;

  const Contraction contraction;
  const ContractionTile tile;
  Value shared; // start of shared memory

private:
  LogicalResult emitOutputs() override;
  LogicalResult emitPartialNodes() override;
  void boundReductions();
  void recordPermissions();

  TileMapping tileMapping{*this};
  OperandStaging staging{*this, tileMapping};
  Epilogue epilogue{*this, tileMapping};
  ContractionKernel contractionKernel{*this, tileMapping, staging, epilogue};
  WarpgroupKernel warpgroupKernel{*this, tileMapping, staging, epilogue};
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONEMITTER_H
