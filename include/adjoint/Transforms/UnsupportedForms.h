// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Forms of upstream's operations that no target runs, for passes that meet them first.
#ifndef ADJOINT_TRANSFORMS_UNSUPPORTEDFORMS_H
#define ADJOINT_TRANSFORMS_UNSUPPORTEDFORMS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// What is wrong with an operation, as the rest of an error about it: a rounding mode other than
/// to_nearest_even, or an index map that divides by something else than a positive constant, to which MLIR
/// gives no meaning. Empty if neither is.
std::string findUnsupportedForm(Operation *op);

} // namespace mlir::ad

#endif // ADJOINT_TRANSFORMS_UNSUPPORTEDFORMS_H
