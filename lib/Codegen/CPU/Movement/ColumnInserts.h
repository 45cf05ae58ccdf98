// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Insertions into results whose rows have a few elements: rows are computed and stored whole.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_COLUMNINSERTS_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_COLUMNINSERTS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class ColumnInserts : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// Emits the insertion, with all columns of its rows in the destination; nothing if rows cannot be stored
  /// whole.
  std::optional<LogicalResult> emitInsert(tensor::InsertSliceOp insert, const Buffer &destination,
                                          const AxisRange &range);

private:
  bool isInsertedByColumn(tensor::InsertSliceOp insert, const AxisRange &range);
  int64_t rowsOfSlice(tensor::InsertSliceOp insert);
  LogicalResult emitInsertByColumn(tensor::InsertSliceOp insert, const Buffer &destination,
                                   const AxisRange &range);
  FailureOr<Value> valueOfColumn(tensor::InsertSliceOp insert, const Position &position,
                                 const Position &target);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_COLUMNINSERTS_H
