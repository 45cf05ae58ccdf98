// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters whose updates are sorted (UpdateRuns in OrderedWrite.h). A thread computes an element: it goes
// through the run of updates that are the element's own, in ascending order.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SCATTER_RUNSEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_SCATTER_RUNSEMITTER_H

#include "../Generic/GPUKernelEmitter.h"
#include "adjoint/Dialect/AD/Transforms/OrderedWrite.h"

namespace mlir::ad::device {

class RunsEmitter : public GPUKernelEmitter {
public:
  RunsEmitter(KernelOp kernel, FunctionOpInterface function, const UpdateRuns &runs)
      : GPUKernelEmitter(kernel, function), runs(runs) {}

private:
  LogicalResult emitOutputs() override;
  LogicalResult emitElement(const Position &element);
  FailureOr<Value> emitSteps(ArrayRef<Index> loops, Value from, Value to, int64_t stepsAtOnce, Value start);

  UpdateRuns runs;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SCATTER_RUNSEMITTER_H
