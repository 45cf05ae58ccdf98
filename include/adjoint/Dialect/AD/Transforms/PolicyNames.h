// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operations that policies of mixed precision name.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_POLICYNAMES_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_POLICYNAMES_H

#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h"

namespace mlir::ad {
/// What is wrong with the first operation in the lists of a policy that cannot have its rule, after its
/// place; empty if nothing is. Loads the dialects of the operations, as far as they are registered.
std::string checkListedOperations(const numerics::PrecisionPolicy &policy, MLIRContext *context);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_POLICYNAMES_H
