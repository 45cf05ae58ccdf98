// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Slices that are inserted into a result: concatenations and paddings.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_INSERTEMITTER_H
#define ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_INSERTEMITTER_H

#include "../KernelComponent.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad::codegen {

/// Whether consecutive elements of the slice along the axis are consecutive in the destination.
bool isUnitStride(tensor::InsertSliceOp insert, int64_t axis);

/// Whether the slice has all elements of the destination along the axis, as far as types and attributes say.
bool fills(tensor::InsertSliceOp insert, int64_t axis);

class InsertEmitter : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  LogicalResult emitInsert(tensor::InsertSliceOp insert, const Buffer &destination, const AxisRange &range);
  Nest nestOfSource(tensor::InsertSliceOp insert, const AxisRange &range);
  FailureOr<Position> insertedPosition(tensor::InsertSliceOp insert, ArrayRef<Index> position);

private:
  AxisRange rangeOfSource(tensor::InsertSliceOp insert, const Nest &source, const AxisRange &range);
  int64_t firstContiguousAxis(tensor::InsertSliceOp insert, const AxisRange &range);
  void mergeAxes(Nest &nest, tensor::InsertSliceOp insert, int64_t first);
  Position mergedPosition(tensor::InsertSliceOp insert, ArrayRef<Index> outer, ArrayRef<Value> extents,
                          Value start, const Index &index);
  LogicalResult emitContiguousInsert(tensor::InsertSliceOp insert, int64_t first, const Buffer &destination,
                                     const AxisRange &range);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_INSERTEMITTER_H
