// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Numbers that options of passes take: the parser of options accepts every one that fits into the type.

#ifndef ADJOINT_SUPPORT_NUMERICOPTION_H
#define ADJOINT_SUPPORT_NUMERICOPTION_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::ad {

/// Fails after a diagnostic at the operation when the option's number is less than `least`.
inline LogicalResult verifyAtLeast(Operation *op, StringRef option, int64_t least, int64_t given) {
  if (given >= least)
    return success();
  return emitError(op->getLoc(), "expected '")
         << option << "' with a number of at least " << least << ", but got " << given;
}

/// Fails after a diagnostic at the operation when the option's number is no power of two between the bounds.
inline LogicalResult verifyPowerOfTwo(Operation *op, StringRef option, int64_t least, int64_t most,
                                      int64_t given) {
  if (given >= least && given <= most && llvm::isPowerOf2_64(given))
    return success();
  return emitError(op->getLoc(), "expected '")
         << option << "' with a power of two from " << least << " to " << most << ", but got " << given;
}

/// The bytes of a vector register: from two lanes of 32 bits to more than any register has.
inline LogicalResult verifyVectorBytes(Operation *op, int64_t given) {
  constexpr int64_t least = 8, most = 1024;
  return verifyPowerOfTwo(op, "vector-bytes", least, most, given);
}

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_NUMERICOPTION_H
