// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls within a function that is about to be differentiated.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_INLINE_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_INLINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {
/// Replaces every func.call in `function` by the body of its callee, also in regions and in inlined code.
/// Nothing may be recursive. Calls of functions without a body stay.
LogicalResult inlineCalls(func::FuncOp function, SymbolTable &symbols);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_INLINE_H
