// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise kernels over short last axes: one loop over the elements of all axes.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_FLATBROADCAST_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_FLATBROADCAST_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class FlatBroadcast : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  bool isFlatBroadcast(Value output, const Nest &nest);
  Position flatPosition(OpOperand *input, ArrayRef<Index> loops);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_FLATBROADCAST_H
