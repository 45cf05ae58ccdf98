// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of NumericsOpInterface; see the .td file for its contract.

#ifndef ADJOINT_DIALECT_AD_IR_NUMERICSOPINTERFACE_H
#define ADJOINT_DIALECT_AD_IR_NUMERICSOPINTERFACE_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::ad {
/// Only running reductions have nested chains as their order, and they have no other order than chains.
LogicalResult verifySummationOrder(Operation *op);
} // namespace mlir::ad

#include "adjoint/Dialect/AD/IR/NumericsOpInterface.h.inc"

#endif // ADJOINT_DIALECT_AD_IR_NUMERICSOPINTERFACE_H
