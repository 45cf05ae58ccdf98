// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of OrderedWriteOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_ORDEREDWRITEOPINTERFACE_H
#define ADJOINT_INTERFACES_ORDEREDWRITEOPINTERFACE_H

#include "adjoint/Interfaces/ElementAccess.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::ad {

/// The default of OrderedWriteOpInterface::getLoopSizes. The entry of a loop whose size nothing gives is
/// null.
SmallVector<OpFoldResult> defaultWriteSizes(Operation *op, OpBuilder &builder);

LogicalResult verifyOrderedWrite(Operation *op);

} // namespace mlir::ad

#include "adjoint/Interfaces/OrderedWriteOpInterface.h.inc"

#endif // ADJOINT_INTERFACES_ORDEREDWRITEOPINTERFACE_H
