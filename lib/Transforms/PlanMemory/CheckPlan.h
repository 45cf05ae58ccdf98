// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The race checker.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_CHECKPLAN_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_CHECKPLAN_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {

/// Follows the host program as its plan says it will run, with the name of a value in the place of its
/// content: an operand must still lie where it was written, and no kernel may write what it reads elsewhere.
/// Knows nothing of how the plan was made. Fails after a diagnostic.
LogicalResult checkMemoryPlan(func::FuncOp function, SymbolTableCollection &symbols);

/// Whether the kernel may write the result over the argument: when it writes an element, it does not need the
/// old one any more. For the checker alone: what plans asks OverwriteAnalysis.
bool mayWriteOver(KernelOp kernel, unsigned input, unsigned result);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_CHECKPLAN_H
