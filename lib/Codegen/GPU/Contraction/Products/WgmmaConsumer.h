// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A consumer warpgroup of a warp-specialized kernel: it multiplies 64 rows of the output tile by `wgmma`,
// with the accumulators in registers, and computes results of them. Each warp stages the accumulators of its
// own rows in shared memory of its own.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_WGMMACONSUMER_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_WGMMACONSUMER_H

#include "../Epilogue.h"
#include "../PersistentScheduler.h"
#include "../Staging/TmaStages.h"

namespace mlir::ad::device {

class WgmmaConsumer : public ContractionComponent {
public:
  WgmmaConsumer(ContractionEmitter &emitter, PersistentScheduler &scheduler, TmaStages &stages,
                Epilogue &epilogue)
      : ContractionComponent(emitter), scheduler(scheduler), stages(stages), epilogue(epilogue) {}

  /// The loop over the output tiles of the block. `warpgroup` is the number of the thread's warpgroup; the
  /// producer has number 0.
  LogicalResult emit(Value warpgroup);

private:
  Value multiplyTile(Value warpgroup, Value before);
  Value multiplyKTile(Value warpgroup, Value kTile, Value accumulators);
  Value descriptorOf(const TmaOperand &operand, Value kTile, Value byte);
  void release(Value kTile, Value block, Value condition);
  LogicalResult emitEpilogue(const TileOrigin &origin, Value accumulators);
  void stageColumns(const StagedAccumulators &staged, Value pass, Value accumulators);
  void stageColumns(const StagedAccumulators &staged, int64_t pass, Value accumulators);

  PersistentScheduler &scheduler;
  TmaStages &stages;
  Epilogue &epilogue;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_PRODUCTS_WGMMACONSUMER_H
