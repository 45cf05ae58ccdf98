// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What tensors of a kernel are computed from, and the kinds of operations that compute them.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_PRODUCERS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_PRODUCERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::ad::codegen {

/// The tensors that the scalar code of the operation reads at computed indices.
SmallVector<Value> extractedTensors(linalg::GenericOp generic);

/// The operation that produces a reduction's next accumulator.
Operation *combiningOp(linalg::GenericOp generic);

/// Whether some loop is reduced: an output does not cover the whole iteration space.
bool reduces(linalg::GenericOp generic);

/// Visits everything that `output` is computed from, once; stops when the predicate is true.
bool anyProducer(Value output, function_ref<bool(Value)> predicate);

/// Whether an operation that `output` is computed from satisfies the predicate.
bool dependsOn(Value output, function_ref<bool(linalg::GenericOp)> predicate);

/// Whether an operation costs much: a division, a square root, or an elementary function.
bool isExpensiveScalar(Operation *op);

/// Whether an element costs much: one of its operations does.
bool isExpensive(linalg::GenericOp generic);

/// Whether every point is computed from the operands' elements at the same point.
bool isPointwise(linalg::GenericOp generic);

/// The tensor whose elements the kernel converts, once or several times, to those of this one; null if it
/// computes the tensor in another way.
Value convertedFrom(Value tensor);

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_PRODUCERS_H
