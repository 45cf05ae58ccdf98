// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise kernels over short last axes: one loop over the elements of all axes.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_FLATBROADCAST_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_FLATBROADCAST_H

#include "../../Kernel/Outputs/KernelOutputs.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class FlatBroadcast : public CPUComponent {
public:
  FlatBroadcast(CPUContext &context, LaneValues &laneValues, KernelOutputs &kernelOutputs)
      : CPUComponent(context), laneValues(laneValues), kernelOutputs(kernelOutputs) {}

  bool isFlatBroadcast(Value output, const CPUNest &nest);
  Position flatPosition(OpOperand *input, ArrayRef<Index> loops);

private:
  LaneValues &laneValues;
  KernelOutputs &kernelOutputs;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_FLATBROADCAST_H
