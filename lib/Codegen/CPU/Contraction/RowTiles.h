// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles of rows of a block.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_ROWTILES_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_ROWTILES_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class RowTiles : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  LogicalResult emitRowTiles(const CPUNest &nest, Value lower, Value upper, const Position &outer,
                             Store inRows);
  Position rowPosition(const CPUNest &nest, const Position &outer, Value base, int64_t offset,
                       int64_t aligned);

private:
  std::pair<Value, Value> evenTiles(const CPUNest &nest, int64_t size, Value count);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_ROWTILES_H
