// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Moving elements between tensors: everything is one strided read or one strided write.

#ifndef ADJOINT_LIB_REFERENCE_MOVEMENT_H
#define ADJOINT_LIB_REFERENCE_MOVEMENT_H

#include "adjoint/Reference/Tensor.h"

namespace mlir::ad::reference {

using Shape = SmallVector<int64_t>;

/// The strides of a row-major tensor, in elements.
Shape stridesOf(ArrayRef<int64_t> shape);

/// Element i of the result is element offset + sum of i[d] * strides[d] of the input. Strides may be 0 or
/// negative.
Tensor gather(const Tensor &input, ArrayRef<int64_t> shape, int64_t offset, ArrayRef<int64_t> strides);
/// Writes element i of the input to element offset + sum of i[d] * strides[d] of the destination.
void scatter(Tensor &destination, const Tensor &input, int64_t offset, ArrayRef<int64_t> strides);

/// The input repeated to a shape to which it broadcasts.
Tensor broadcastTo(const Tensor &input, ArrayRef<int64_t> shape);
/// Axis i of the result is axis permutation[i] of the input.
Tensor transpose(const Tensor &input, ArrayRef<int64_t> permutation);
/// The value of a scalar everywhere.
Tensor filled(const Tensor &scalar, ArrayRef<int64_t> shape);

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_MOVEMENT_H
