// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests whose rows have values of their own, such as the mean of a norm.

#ifndef ADJOINT_LIB_CODEGEN_CPU_ROWEMITTER_H
#define ADJOINT_LIB_CODEGEN_CPU_ROWEMITTER_H

#include "CPUComponent.h"

namespace mlir::ad::cpu {

class RowEmitter : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  LogicalResult emitRows(ValueRange outputs, unsigned space);

private:
  int64_t rowUnroll(ValueRange outputs, const Nest &space);
  LogicalResult emitRowsAt(ValueRange outputs, const Nest &space, ArrayRef<Position> rows);
  /// The code of rows, once it is chosen which of their values are cached.
  LogicalResult emitChosen(const RowOutputs &split, const Nest &space, ArrayRef<Position> rows);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_ROWEMITTER_H
