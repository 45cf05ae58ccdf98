// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operations the program wants in kernels of their own. It is kept in locations, which what passes make
// from an operation has, too: its decomposition, its casts, its derivative.

#ifndef ADJOINT_DIALECT_AD_IR_FUSEGROUPS_H
#define ADJOINT_DIALECT_AD_IR_FUSEGROUPS_H

#include "mlir/IR/Operation.h"

namespace mlir::ad {
/// Attribute of an operation, a string: it shares kernels with operations of the same group alone.
constexpr StringLiteral kFuseGroupAttr = "ad.fuse_group";
/// Attribute of an operation, a unit: it is a group of its own.
constexpr StringLiteral kNoFuseAttr = "ad.no_fuse";

/// The group of the operation or of the one that it was made from; null for none. Only operations whose
/// groups are equal may share a kernel.
Attribute fuseGroupOf(Operation *op);

/// Moves the attributes of `root` and of operations in it to their locations, and to those of operations
/// nested in the ones that have them. Gives the number of groups of one operation.
int64_t keepFuseGroups(Operation *root);

/// Checks one of the two attributes and what it is on.
LogicalResult verifyFuseGroup(Operation *op, NamedAttribute attribute);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_FUSEGROUPS_H
