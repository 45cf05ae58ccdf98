// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop-invariant code motion during emission: values that do not depend on a loop are computed before the
// loop is emitted.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_HOISTING_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_HOISTING_H

#include "../KernelComponent.h"

namespace mlir::ad::codegen {

class Hoisting : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  LogicalResult hoist(Value tensor, const Position &position, Visited &visited);
  SmallVector<std::pair<Value, Position>> inputsAt(Value tensor, const Position &position);
  bool sumsLanesAt(Value tensor, const Position &position, Visited &visited, bool ofShortRows = true);
  bool sumsLanesAlong(ValueRange outputs, const Nest &nest, int64_t axis, bool ofShortRows = true);
  LogicalResult hoistReduced(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_HOISTING_H
