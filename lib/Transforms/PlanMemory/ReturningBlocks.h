// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Blocks that end a host program: what their terminators read are results of the function.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_RETURNINGBLOCKS_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_RETURNINGBLOCKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {

struct ReturningBlock {
  Block *block;
  /// For each operand of the terminator, the number of the result of the function; -1 for none.
  SmallVector<int64_t> results;
};

/// The block of the function, and both sides of each scf.if that is the last operation before the terminator
/// of such a block. If the function returns a result of the branch several times, its number is the first to
/// which an argument is donated, or else the first of all.
SmallVector<ReturningBlock> findReturningBlocks(func::FuncOp function);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_RETURNINGBLOCKS_H
