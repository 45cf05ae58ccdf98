// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of few rows and sums of columns whose large operand is read once, in long parts of its
// rows.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_STREAMEDREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_STREAMEDREDUCTIONS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class StreamedReductions : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  int64_t streamedColumns(linalg::GenericOp generic);
  LogicalResult emitStreamedReduction(linalg::GenericOp generic, Buffer &result, UnitRange units);

private:
  LogicalResult emitUnit(linalg::GenericOp generic, const Nest &nest, Buffer &result, ArrayRef<Position> rows,
                         Value width, Value unit);
  LogicalResult startChains(linalg::GenericOp generic, const Buffer &result, ArrayRef<Position> positions);
  LogicalResult streamSteps(linalg::GenericOp generic, const Buffer &result, ArrayRef<Position> positions,
                            Value first, int64_t count);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_STREAMEDREDUCTIONS_H
