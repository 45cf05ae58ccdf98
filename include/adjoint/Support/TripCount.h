// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How many iterations an scf.for has: ceil((upper - lower) / step) where lower < upper, else none. Comparison
// and numbers are signed, or unsigned where the loop says so. The quotient is that of numbers without limits:
// neither the distance of the bounds nor the sum after the last step has to fit their type. All targets, the
// estimates of work and derivatives ask these functions, and count iterations instead of adding steps.

#ifndef ADJOINT_SUPPORT_TRIPCOUNT_H
#define ADJOINT_SUPPORT_TRIPCOUNT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace mlir::ad {

/// Bounds and step as numbers of the width of their type.
struct LoopRange {
  APInt lower, upper, step;
  bool isUnsigned;

  /// Whether the loop advances; it has a meaning only then.
  bool hasPositiveStep() const { return isUnsigned ? !step.isZero() : step.isStrictlyPositive(); }
  /// The number of iterations of a loop that advances, a number without sign.
  uint64_t tripCount() const;
  /// Whether lower + tripCount() * step is a number of the type.
  bool lastStepFits() const;
};

/// The range of a loop that advances, if bounds and step are constants of at most 64 bits.
std::optional<LoopRange> staticRange(scf::ForOp loop);
/// The number of iterations of such a loop.
std::optional<uint64_t> staticTripCount(scf::ForOp loop);

/// The same at run time, for a loop that advances: a number without sign, an index for loops over indices and
/// an i64 for the others.
Value emitTripCount(OpBuilder &builder, Location loc, Value lower, Value upper, Value step, bool isUnsigned);
/// lower + trip * step, the index in iteration number `trip`.
Value emitLoopIndex(OpBuilder &builder, Location loc, Value lower, Value step, Value trip);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_TRIPCOUNT_H
