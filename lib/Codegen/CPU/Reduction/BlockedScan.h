// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions along the axis that is contiguous in memory, in squares of steps and chains.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_BLOCKEDSCAN_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_BLOCKEDSCAN_H

#include "../../Kernel/Reduction/ScanEmitter.h"
#include "../CPUTypes.h"
#include "../Movement/Prefetcher.h"

namespace mlir::ad::cpu {

class BlockedScan : public ScanEmitter {
public:
  template <class... Components>
  BlockedScan(KernelContext &context, ValueSource &values, Prefetcher &prefetcher, Components &...components)
      : ScanEmitter(context, values, components...), prefetcher(prefetcher) {}

protected:
  /// The indices of a vector of steps of a chain, from its step `first` on.
  SmallVector<Index> alongSteps(linalg::GenericOp scan, ArrayRef<Index> loops, Value first);

private:
  /// Emits squares of steps and chains.
  LogicalResult scanVectors(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                            const Block &block, Value &step, Value &accumulator) override;
  std::optional<unsigned> chainLoopOf(linalg::GenericOp scan, ArrayRef<Index> loops);
  FailureOr<Value> scanSquares(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                               unsigned chainLoop, const Block &squares, Value start);
  SmallVector<Index> alongChain(linalg::GenericOp scan, ArrayRef<Index> loops, unsigned chainLoop,
                                Value chain);
  FailureOr<SmallVector<Value>> loadSquare(linalg::GenericOp scan, ArrayRef<Index> loops,
                                           ArrayRef<Value> chains, unsigned chainLoop);
  LogicalResult scanSquare(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                           ArrayRef<Value> chains, unsigned chainLoop, Value carry, Value &accumulator);

  Prefetcher &prefetcher;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_BLOCKEDSCAN_H
