// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which types carry a derivative.

#ifndef ADJOINT_INTERFACES_DERIVATIVETYPEINTERFACE_H
#define ADJOINT_INTERFACES_DERIVATIVETYPEINTERFACE_H

#include "mlir/IR/Types.h"

#include "adjoint/Interfaces/DerivativeTypeInterface.h.inc"

namespace mlir::ad {
/// Whether values of the type may depend differentiably on other values. Integers, indices and `none` do not;
/// complex numbers, tuples, vectors, tensors and memrefs do if their elements do. Another type does unless
/// its DerivativeTypeInterface says otherwise.
bool carriesDerivative(Type type);
} // namespace mlir::ad

#endif // ADJOINT_INTERFACES_DERIVATIVETYPEINTERFACE_H
