// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Launches of kernels that another compiler wrote, and the code that these hold.

#ifndef ADJOINT_LIB_REFERENCE_KERNELS_H
#define ADJOINT_LIB_REFERENCE_KERNELS_H

#include "Interpreter.h"

namespace mlir::ad::reference {

void registerKernels(Semantics &semantics);
/// Scalar operations that only kernels hold.
void registerKernelScalars(Semantics &semantics);

} // namespace mlir::ad::reference

#endif // ADJOINT_LIB_REFERENCE_KERNELS_H
