// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which contractions tensor cores can compute.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_TENSORCORES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_TENSORCORES_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {
/// Why no instruction of tensor cores can compute the ad.dot or ad.gemm, by its types, axes and order; empty
/// if one can.
StringRef whyNoTensorCores(Operation *contraction);

/// The products of a chain of the contraction's sums on tensor cores (InstructionAttr): so many that the
/// parts of K occupy a large GPU, where the result alone has too few tiles. 0 if one chain sums all of K. It
/// follows from the operation alone: with a static result, a dynamic K counts as a usual one.
int64_t chainOnTensorCores(Operation *contraction);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_TENSORCORES_H
