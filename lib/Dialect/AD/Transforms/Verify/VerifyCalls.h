// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYCALLS_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYCALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::ad {
/// Each call becomes a copy of its callee. Refuses functions that repeated calls would make longer than
/// 100,000 operations, before any call is inlined; the error names the chain of calls.
LogicalResult verifyCalls(ModuleOp module);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_VERIFY_VERIFYCALLS_H
