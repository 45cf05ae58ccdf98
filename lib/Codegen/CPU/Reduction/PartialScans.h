// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions of few long chains, divided among threads: one function computes the totals of the tiles
// of the order, another one is the kernel, whose units are tiles. A unit begins with the running total of the
// tiles before its own.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALSCANS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALSCANS_H

#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../Loops/WorkDistribution.h"
#include "InterleavedScan.h"

namespace mlir::ad::cpu {

class PartialScans : public CPUComponent {
public:
  PartialScans(CPUContext &context, MemoryAccess &memoryAccess, ReductionLoops &reductionLoops,
               InterleavedScan &scans, WorkDistribution &distribution)
      : CPUComponent(context), memoryAccess(memoryAccess), reductionLoops(reductionLoops), scans(scans),
        distribution(distribution) {}

  /// The only result of the kernel, if it is a running reduction to be divided; else null.
  linalg::GenericOp dividedScan(ValueRange outputs);
  /// The number of totals and their bytes.
  SmallVector<Value> emitSizes(linalg::GenericOp scan);
  /// Threads that gain from a division. It reads and sums the elements twice: with two threads for a chain
  /// that takes as long as one thread alone.
  int64_t minThreads(linalg::GenericOp scan) { return 4 * countChains(scan); }
  LogicalResult emitTotals(linalg::GenericOp scan);
  LogicalResult emitTiles(linalg::GenericOp scan);

  Value memory; // of the totals

private:
  int64_t countChains(linalg::GenericOp scan) {
    return ShapedType::getNumElements(scans.nestOverChains(scan).shape);
  }
  Value tilesOf(linalg::GenericOp scan);
  Buffer totalsOf(linalg::GenericOp scan);
  FailureOr<Value> carryInto(linalg::GenericOp scan, const Buffer &totals, Value chain, Value tile);

  MemoryAccess &memoryAccess;
  ReductionLoops &reductionLoops;
  InterleavedScan &scans;
  WorkDistribution &distribution;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_PARTIALSCANS_H
