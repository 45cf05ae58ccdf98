// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that sum rows, in the mapping level warp: all threads of a warp compute the sums of a row, then
// each computes elements of that row. If the sums differ from element to element, the warp computes one
// element after another.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_ROWLOOPS_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_ROWLOOPS_H

#include "../Generic/GPUComponent.h"

namespace mlir::ad::device {

class RowLoops : public GPUComponent {
public:
  using GPUComponent::GPUComponent;

  /// `space` is the number of the result that has the most axes.
  LogicalResult emitRows(ValueRange outputs, unsigned space);
  /// One row; `parallel`: the threads of the row compute different elements.
  LogicalResult emitRow(ValueRange outputs, const Nest &space, const Position &row, bool parallel);
  LogicalResult emitSummedElements(ValueRange outputs, const Nest &space);
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_ROWLOOPS_H
