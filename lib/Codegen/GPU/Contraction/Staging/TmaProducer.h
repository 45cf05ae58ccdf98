// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The producer of a warp-specialized kernel: one thread loads K tiles of both operands for the consumers,
// with multicast in a cluster.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMAPRODUCER_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMAPRODUCER_H

#include "../PersistentScheduler.h"
#include "TmaLoader.h"

namespace mlir::ad::device {

class TmaProducer : public ContractionComponent {
public:
  TmaProducer(ContractionEmitter &emitter, TileMapping &tileMapping, PersistentScheduler &scheduler,
              TmaStages &stages)
      : ContractionComponent(emitter), scheduler(scheduler), loader(emitter, tileMapping, stages) {}

  /// The loop over all K tiles of all output tiles of the block.
  LogicalResult emit();

private:
  PersistentScheduler &scheduler;
  TmaLoader loader;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_STAGING_TMAPRODUCER_H
