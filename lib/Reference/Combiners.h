// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operations of linalg that join partial results.

#ifndef ADJOINT_LIB_REFERENCE_COMBINERS_H
#define ADJOINT_LIB_REFERENCE_COMBINERS_H

#include "Interpreter.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::reference {

/// The value that the combiner keeps; null for an operation that joins nothing.
TypedAttr neutralOf(Operation *combiner);

/// The value of the attribute as a scalar.
Tensor scalarOf(TypedAttr value);

/// The order of the kernel or fusion that the operation is in; null if it has none.
OrderAttr orderOfKernel(linalg::GenericOp op);

/// The combiner alone, or an addition for FMAs.
class JoinCode {
public:
  JoinCode(Operation *combiner, Frame &frame);

  /// Does nothing after an error.
  Tensor join(const Tensor &left, const Tensor &right, int32_t &status);

private:
  Frame &frame;
  Block code;
};

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_COMBINERS_H
