// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Remarks about loops of a device program: which loops make the host wait for a value of the device, and why.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_LOOPREMARKS_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_LOOPREMARKS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad::host {

/// Reports a loop with launches: `loop-waits` or `loop-without-waits`.
void reportWaits(Operation *loop);

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_LOOPREMARKS_H
