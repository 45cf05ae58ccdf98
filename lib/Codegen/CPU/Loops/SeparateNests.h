// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Results that have loop nests of their own.

#ifndef ADJOINT_LIB_CODEGEN_CPU_LOOPS_SEPARATENESTS_H
#define ADJOINT_LIB_CODEGEN_CPU_LOOPS_SEPARATENESTS_H

#include "../../Kernel/Outputs/InsertEmitter.h"
#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Values/Hoisting.h"
#include "../CPUComponent.h"
#include "../Reduction/InterleavedScan.h"
#include "LoopNests.h"
#include "WorkDistribution.h"

namespace mlir::ad::cpu {

class SeparateNests : public CPUComponent {
public:
  SeparateNests(CPUContext &context, Hoisting &hoisting, KernelOutputs &kernelOutputs, InterleavedScan &scans,
                InsertEmitter &inserts, LoopNests &loopNests, WorkDistribution &distribution)
      : CPUComponent(context), hoisting(hoisting), kernelOutputs(kernelOutputs), scans(scans),
        inserts(inserts), loopNests(loopNests), distribution(distribution) {}

  struct SeparateResult {
    Value output;
    CPUNest nest;
    UnitSpace space;
  };
  LogicalResult emitSeparately(ValueRange outputs);

private:
  int64_t dividedAxis(Value output, ArrayRef<int64_t> shape);
  SeparateResult nestOfResult(Value output, unsigned number);
  LogicalResult emitNestOfResult(SeparateResult &separate, const Buffer &destination);
  LogicalResult emitIfAny(SeparateResult &separate, const Buffer &destination);
  UnitRange unitsAfter(Value before, Value count);

  Hoisting &hoisting;
  KernelOutputs &kernelOutputs;
  InterleavedScan &scans;
  InsertEmitter &inserts;
  LoopNests &loopNests;
  WorkDistribution &distribution;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_LOOPS_SEPARATENESTS_H
