// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The warp-specialized, persistent kernel of a contraction on sm_90a: one thread of the producer warpgroup
// loads K tiles by TMA into a pipeline of mbarriers; the consumer warpgroups multiply them by `wgmma`, and
// compute results while K tiles of the next output tile are loaded (CUTLASS: KernelTmaWarpSpecialized…).

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_WARPGROUPKERNEL_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_WARPGROUPKERNEL_H

#include "Products/WgmmaConsumer.h"
#include "Staging/TmaProducer.h"

namespace mlir::ad::device {

class WarpgroupKernel : public ContractionComponent {
public:
  WarpgroupKernel(ContractionEmitter &emitter, TileMapping &tileMapping, OperandStaging &staging,
                  Epilogue &epilogue)
      : ContractionComponent(emitter), tileMapping(tileMapping), stages(emitter, staging),
        scheduler(emitter, tileMapping), producer(emitter, tileMapping, scheduler, stages),
        consumer(emitter, scheduler, stages, epilogue) {}

  LogicalResult emit();

private:
  void describeLaunch();
  void emitPrologue();
  Value warpgroupOfThread();
  void setMaxRegisters(bool ofProducer);

  TileMapping &tileMapping;
  TmaStages stages;
  PersistentScheduler scheduler;
  TmaProducer producer;
  WgmmaConsumer consumer;
  Value warpgroup; // of the thread, in its block; 0 is the producer
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_WARPGROUPKERNEL_H
