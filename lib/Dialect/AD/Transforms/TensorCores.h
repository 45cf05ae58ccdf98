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
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_TENSORCORES_H
