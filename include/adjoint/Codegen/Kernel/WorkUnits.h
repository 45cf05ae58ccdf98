// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The work of a CPU kernel in units, for threads. Its function takes the range [begin, end) of units to run;
// each unit writes elements of its own, so that ranges may run in parallel and in any order. The attribute
// `ad.units` of the function says how many there are, for the host program, which knows the sizes.

#ifndef ADJOINT_CODEGEN_KERNEL_WORKUNITS_H
#define ADJOINT_CODEGEN_KERNEL_WORKUNITS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::ad {

/// A loop whose iterations are distributed over threads: the axes that it enumerates as one, and how many of
/// their elements a unit has. The last unit may have fewer.
struct UnitLoop {
  SmallVector<int64_t> axes;
  int64_t step = 1;
};

/// The loops around one result of the kernel, the outermost first. The number of their units is the product
/// of those of the loops; without loops it is one.
struct UnitSpace {
  int64_t result = 0;
  SmallVector<UnitLoop> loops;
};

/// The number of units is the sum over the spaces, whose ranges are consecutive.
using WorkUnits = SmallVector<UnitSpace>;

constexpr llvm::StringLiteral kUnitsAttr = "ad.units";

/// The estimated nanoseconds of all units of a kernel on one thread: an attribute of the kernel's function,
/// or, if the sizes are dynamic, a function of the operands whose name has that suffix.
constexpr llvm::StringLiteral kNanosecondsAttr = "ad.nanoseconds", kNanosecondsSuffix = "$nanoseconds";

/// A kernel whose reductions can be divided has that attribute, the minimum number of threads that gain (an
/// i64, 1 where the caches gain too), and three more functions. The first returns for the operands the number
/// of partial results and the bytes of their memory. The second computes a range of them into that
/// memory, its argument before the range. The third is the kernel, but reads the partial results from there,
/// and has `ad.units` of its own.
constexpr llvm::StringLiteral kPartialReductionsAttr = "ad.partial_reductions",
                              kPartialSizesSuffix = "$partial_sizes", kPartialSuffix = "$partial",
                              kMergeSuffix = "$merge";

/// `[[RESULT, array<i64: STEP, AXIS…>…]…]`
ArrayAttr unitsToAttribute(MLIRContext *context, ArrayRef<UnitSpace> spaces);

/// None if the attribute does not have that form, or names a step below 1 or a negative number.
std::optional<WorkUnits> unitsFromAttribute(Attribute attribute);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_WORKUNITS_H
