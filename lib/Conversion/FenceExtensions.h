// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Keeps LLVM's optimizer from looking through extensions of floats.
#ifndef ADJOINT_LIB_CONVERSION_FENCEEXTENSIONS_H
#define ADJOINT_LIB_CONVERSION_FENCEEXTENSIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// Inserts `llvm.arithmetic.fence` after each `llvm.fpext` below `root`. InstCombine of LLVM 22 narrows a
/// comparison of an extended value that has several uses, then takes `x < 0 ? 0 : x` for a maximum and writes
/// `x <= 0 ? 0 : x`, which loses the sign of -0. The fence is no instruction on any target.
void fenceExtensions(Operation *root);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_FENCEEXTENSIONS_H
