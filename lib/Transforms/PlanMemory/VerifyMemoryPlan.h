// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The proof that a memory plan overwrites no operand before its last read.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_VERIFYMEMORYPLAN_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_VERIFYMEMORYPLAN_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {

/// Interprets the host program symbolically: the content of a buffer is the value that was written there
/// last. An operand must still be in its buffer when it is read, and no kernel may write an element that it
/// reads later. Knows nothing of how the plan was made. Fails after a diagnostic.
LogicalResult verifyMemoryPlan(func::FuncOp function, SymbolTableCollection &symbols);

/// Whether the kernel may write the result over the argument: when it writes an element, it does not need the
/// old one any more. For the proof alone: the planner uses OverwriteAnalysis.
bool mayWriteOver(KernelOp kernel, unsigned input, unsigned result);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_VERIFYMEMORYPLAN_H
