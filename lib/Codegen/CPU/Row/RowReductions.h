// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over the lanes of short rows, vectorized over rows.

#ifndef ADJOINT_LIB_CODEGEN_CPU_ROW_ROWREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_ROW_ROWREDUCTIONS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class RowReductions : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  bool vectorizesRows(linalg::GenericOp generic);
  FailureOr<Value> reduceRows(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity);

private:
  FailureOr<Value> reduceColumns(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity);
  bool rowsAreContiguous(linalg::GenericOp generic, ArrayRef<Index> loops, int64_t size);
  FailureOr<SmallVector<Value>> lanesOfRows(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                            int64_t size);
  FailureOr<SmallVector<Value>> lanesOfContiguousRows(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                      Value identity, int64_t size);
  FailureOr<SmallVector<Value>> lanesOfRowsInLoop(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                  Value identity, int64_t size);
  FailureOr<Value> lanesOfRow(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value row,
                              int64_t size);
  Value joinLanes(Operation *join, SmallVector<Value> vectors, int64_t width);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_ROW_ROWREDUCTIONS_H
