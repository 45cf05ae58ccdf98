// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop-invariant code motion during emission: values that do not depend on a loop are computed before the
// loop is emitted.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_HOISTING_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_HOISTING_H

#include "../Reduction/ReductionLoops.h"
#include "AccessMaps.h"

namespace mlir::ad::codegen {

class Hoisting : public KernelComponent {
public:
  Hoisting(KernelContext &context, ValueSource &values, AccessMaps &maps, ReductionLoops &loops)
      : KernelComponent(context), values(values), maps(maps), reductionLoops(loops) {}

  LogicalResult hoist(Value tensor, const Position &position, Visited &visited);
  SmallVector<std::pair<Value, Position>> inputsAt(Value tensor, const Position &position);
  bool sumsLanesAt(Value tensor, const Position &position, Visited &visited, bool ofShortRows = true);
  bool sumsLanesAlong(ValueRange outputs, const Nest &nest, int64_t axis, bool ofShortRows = true);
  LogicalResult hoistReduced(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);

private:
  ValueSource &values;
  AccessMaps &maps;
  ReductionLoops &reductionLoops;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_HOISTING_H
