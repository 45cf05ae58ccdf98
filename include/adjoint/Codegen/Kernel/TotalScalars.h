// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalar code of `arith` whose result is defined for all operands.

#ifndef ADJOINT_CODEGEN_KERNEL_TOTALSCALARS_H
#define ADJOINT_CODEGEN_KERNEL_TOTALSCALARS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// How operations on floats of 16 and 8 bits compute.
enum class ShortFloats {
  inF32, ///< in f32, with one rounding to their type, as in the ad dialect
  asIs,  ///< as the CPU does, which may flush subnormal numbers
};

/// Rewrites `op` if it is an operation of arith or math on scalars, so that its result is the reference
/// interpreter's for all operands, on all CPUs:
/// - the operation has no permissions of its own (ScalarFlags.h);
/// - MIN / -1 is MIN and MIN rem -1 is 0. Division by zero does not trap; its result is any number. A host
///   program tests for zero before;
/// - a shift by the width or more gives 0, or copies of the sign;
/// - floats of 16 and 8 bits convert as ad.cast does, and floats to integers saturate;
/// - the bits of a NaN are those of one pattern, which is positive: copysign gives its sign;
/// - maxnumf and minnumf take -0 for less than +0.
/// The operation may be erased.
void makeTotal(Operation *op, ShortFloats shortFloats = ShortFloats::inF32);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_TOTALSCALARS_H
