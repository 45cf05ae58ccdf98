// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks of the numbers in pass options. The parser of options accepts every number that fits into the type.

#ifndef ADJOINT_SUPPORT_NUMERICOPTION_H
#define ADJOINT_SUPPORT_NUMERICOPTION_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::ad {

/// Fails with a diagnostic at the operation if the option's number is less than `min`.
inline LogicalResult verifyAtLeast(Operation *op, StringRef option, int64_t min, int64_t given) {
  if (given >= min)
    return success();
  return emitError(op->getLoc(), "expected '")
         << option << "' with a number of at least " << min << ", but got " << given;
}

/// Fails with a diagnostic at the operation if the option's number is not a power of two between the bounds.
inline LogicalResult verifyPowerOfTwo(Operation *op, StringRef option, int64_t min, int64_t max,
                                      int64_t given) {
  if (given >= min && given <= max && llvm::isPowerOf2_64(given))
    return success();
  return emitError(op->getLoc(), "expected '")
         << option << "' with a power of two from " << min << " to " << max << ", but got " << given;
}

/// The size of a vector register in bytes: at least two lanes of 32 bits, and at most more than any register
/// has.
inline LogicalResult verifyVectorBytes(Operation *op, int64_t given) {
  constexpr int64_t min = 8, max = 1024;
  return verifyPowerOfTwo(op, "vector-bytes", min, max, given);
}

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_NUMERICOPTION_H
