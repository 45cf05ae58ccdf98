// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Results that have loop nests of their own.

#ifndef ADJOINT_LIB_CODEGEN_CPU_LOOPS_SEPARATENESTS_H
#define ADJOINT_LIB_CODEGEN_CPU_LOOPS_SEPARATENESTS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class SeparateNests : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  struct SeparateResult {
    Value output;
    Nest nest;
    UnitSpace space;
  };
  LogicalResult emitSeparately(ValueRange outputs);

private:
  int64_t dividedAxis(Value output, ArrayRef<int64_t> shape);
  SeparateResult nestOfResult(Value output, unsigned number);
  LogicalResult emitNestOfResult(SeparateResult &separate, const Buffer &destination);
  LogicalResult emitIfAny(SeparateResult &separate, const Buffer &destination);
  UnitRange unitsAfter(Value before, Value count);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_LOOPS_SEPARATENESTS_H
