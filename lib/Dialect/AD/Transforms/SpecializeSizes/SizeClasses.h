// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which dimensions of a function's arguments have one size wherever nothing is broadcast at run time.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_SPECIALIZESIZES_SIZECLASSES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_SPECIALIZESIZES_SIZECLASSES_H

#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/IntEqClasses.h"

namespace mlir::ad {
/// A dimension of an argument, or a number where `argument` is null. Either may be required to be the other.
struct EntrySize {
  BlockArgument argument;
  int64_t number = -1; // the dimension of the argument, or the number

  bool operator==(const EntrySize &other) const {
    return argument == other.argument && number == other.number;
  }
};

/// Dimensions, and at most one number, that are compared. The first is the representative: the number if
/// there is one, else the first dimension of the first argument.
using SizeClass = llvm::SmallVector<EntrySize>;

/// The sizes that a function compares, and where.
struct ComparedSizes {
  /// At least two members each. If the members of each class have one size, no operation of `compared`
  /// repeats or sums an axis but those of size 1 by the type. None if no arguments have such sizes.
  llvm::SmallVector<SizeClass> classes;
  /// Each ad.broadcast and ad.sum_to_shape whose sizes follow from those of the arguments. Elementwise
  /// operations are compared, too, but not listed.
  llvm::SmallVector<Operation *> compared;
};

/// Builds index operations for sizes that no operation gives; unused ones are erased again.
ComparedSizes findComparedSizes(func::FuncOp function);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_SPECIALIZESIZES_SIZECLASSES_H
