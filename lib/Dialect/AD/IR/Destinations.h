// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The rule for operands `into(…)`.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_DESTINATIONS_H
#define ADJOINT_LIB_DIALECT_AD_IR_DESTINATIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {
/// Fails after a diagnostic if a destination is not the result of an ad.buffer: memory is planned before the
/// program runs, so that no operation may choose a buffer at run time.
LogicalResult verifyDestinations(Operation *op, ValueRange destinations);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_DESTINATIONS_H
