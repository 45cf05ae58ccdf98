// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Differentiation as a library call, for hosts that do not run a pass pipeline.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::ad {
/// Replaces every `ad.vjp` and `ad.value_and_grad` of the module by calls of generated functions, and every
/// `ad.stop_gradient` by its operand. The rules must be registered (Derivatives.h). What went wrong has been
/// reported at its location when this fails; the module is then only good for printing.
LogicalResult differentiate(ModuleOp module);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_H
