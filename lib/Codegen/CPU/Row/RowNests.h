// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests whose rows have values of their own, such as the mean of a norm.

#ifndef ADJOINT_LIB_CODEGEN_CPU_ROW_ROWNESTS_H
#define ADJOINT_LIB_CODEGEN_CPU_ROW_ROWNESTS_H

#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Values/Hoisting.h"
#include "../CPUComponent.h"
#include "../Loops/LoopNests.h"
#include "../Loops/WorkDistribution.h"
#include "../Movement/Prefetcher.h"
#include "ShortRows.h"
#include "StackRowCache.h"

namespace mlir::ad::cpu {

class RowNests : public CPUComponent {
public:
  RowNests(CPUContext &context, Hoisting &hoisting, KernelOutputs &kernelOutputs, Prefetcher &prefetcher,
           LoopNests &loopNests, WorkDistribution &distribution, StackRowCache &rowCache,
           ShortRows &shortRows)
      : CPUComponent(context), hoisting(hoisting), kernelOutputs(kernelOutputs), prefetcher(prefetcher),
        loopNests(loopNests), distribution(distribution), rowCache(rowCache), shortRows(shortRows) {}

  LogicalResult emitRows(ValueRange outputs, unsigned space);

private:
  int64_t rowUnroll(ValueRange outputs, const CPUNest &space);
  LogicalResult emitRowsAt(ValueRange outputs, const CPUNest &space, ArrayRef<Position> rows);
  /// Chooses what the code of the rows prefetches, and whether it caches values.
  void beginRows(const RowOutputs &split, const CPUNest &space, ArrayRef<Position> rows, bool maySave);
  LogicalResult emitBegunRows(const RowOutputs &split, const CPUNest &space, ArrayRef<Position> rows);

  Hoisting &hoisting;
  KernelOutputs &kernelOutputs;
  Prefetcher &prefetcher;
  LoopNests &loopNests;
  WorkDistribution &distribution;
  StackRowCache &rowCache;
  ShortRows &shortRows;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_ROW_ROWNESTS_H
