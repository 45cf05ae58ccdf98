// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions along the axis that is contiguous in memory, in blocks of steps and chains.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_BLOCKEDSCAN_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_BLOCKEDSCAN_H

#include "../../Kernel/Reduction/ScanEmitter.h"
#include "../CPUTypes.h"

namespace mlir::ad::cpu {

class BlockedScan : public ScanEmitter {
public:
  using ScanEmitter::ScanEmitter;

private:
  /// Emits whole blocks of steps, and sets the step and the accumulator that follow them.
  LogicalResult scanBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                           Value &step, Value &accumulator) override;
  std::optional<unsigned> chainLoopOf(linalg::GenericOp scan, ArrayRef<Index> loops);
  FailureOr<Value> scanWholeBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                                   unsigned chainLoop, Value end, Value start);
  SmallVector<Index> alongChain(linalg::GenericOp scan, ArrayRef<Index> loops, unsigned chainLoop,
                                Value chain);
  FailureOr<SmallVector<Value>> loadBlock(linalg::GenericOp scan, ArrayRef<Index> loops,
                                          ArrayRef<Value> chains, unsigned chainLoop);
  LogicalResult scanBlock(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                          ArrayRef<Value> chains, unsigned chainLoop, Value &carried);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_BLOCKEDSCAN_H
