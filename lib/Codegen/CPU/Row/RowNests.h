// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests whose rows have values of their own, such as the mean of a norm.

#ifndef ADJOINT_LIB_CODEGEN_CPU_ROW_ROWNESTS_H
#define ADJOINT_LIB_CODEGEN_CPU_ROW_ROWNESTS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class RowNests : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  LogicalResult emitRows(ValueRange outputs, unsigned space);

private:
  int64_t rowUnroll(ValueRange outputs, const Nest &space);
  LogicalResult emitRowsAt(ValueRange outputs, const Nest &space, ArrayRef<Position> rows);
  /// Chooses what the code of the rows prefetches, and whether it caches values.
  void beginRows(const RowOutputs &split, const Nest &space, ArrayRef<Position> rows, bool maySave);
  LogicalResult emitBegunRows(const RowOutputs &split, const Nest &space, ArrayRef<Position> rows);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_ROW_ROWNESTS_H
