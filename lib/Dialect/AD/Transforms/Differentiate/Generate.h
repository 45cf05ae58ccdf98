// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative functions.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_GENERATE_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_GENERATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {
enum class Seed {
  /// A cotangent argument per result that is a tensor of floats.
  arguments,
  /// One for the first result, nothing for the others.
  one
};

/// A private function with the arguments of `primal` (and the cotangents), and its results followed by the
/// cotangents of the arguments in `wrt`. `request` is the differentiation operation that diagnostics name.
FailureOr<func::FuncOp> generateDerivative(func::FuncOp primal, ArrayRef<int64_t> wrt, Seed seed,
                                           SymbolTable &symbols, Operation *request);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_DIFFERENTIATE_GENERATE_H
