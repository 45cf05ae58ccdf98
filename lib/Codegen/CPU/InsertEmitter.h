// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Slices that are inserted into a result: concatenations and paddings.

#ifndef ADJOINT_LIB_CODEGEN_CPU_INSERTEMITTER_H
#define ADJOINT_LIB_CODEGEN_CPU_INSERTEMITTER_H

#include "KernelComponent.h"

namespace mlir::ad::cpu {

class InsertEmitter : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  LogicalResult emitInsert(tensor::InsertSliceOp insert, const Buffer &destination, const AxisRange &range);

private:
  AxisRange rangeOfSource(tensor::InsertSliceOp insert, const Nest &source, const AxisRange &range);
  Nest nestOfSource(tensor::InsertSliceOp insert, const AxisRange &range);
  FailureOr<Position> insertedPosition(tensor::InsertSliceOp insert, ArrayRef<Index> position);
  int64_t firstContiguousAxis(tensor::InsertSliceOp insert, const AxisRange &range);
  LogicalResult emitContiguousInsert(tensor::InsertSliceOp insert, int64_t first, const Buffer &destination,
                                     const AxisRange &range);
  bool isInsertedByColumn(tensor::InsertSliceOp insert, const AxisRange &range);
  int64_t rowsOfSlice(tensor::InsertSliceOp insert);
  LogicalResult emitInsertByColumn(tensor::InsertSliceOp insert, const Buffer &destination,
                                   const AxisRange &range);
  FailureOr<Value> valueOfColumn(tensor::InsertSliceOp insert, const Position &position,
                                 const Position &target);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_INSERTEMITTER_H
