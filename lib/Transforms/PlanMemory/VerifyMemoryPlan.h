// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The proof that a memory plan overwrites no operand before its last read.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_VERIFYMEMORYPLAN_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_VERIFYMEMORYPLAN_H

#include "adjoint/Transforms/MemoryPlan.h"

namespace mlir::ad {

/// Whether the kernel may write the result over the argument: when it writes an element, it does not need the
/// old one any more. For the proof alone: the planner uses OverwriteAnalysis.
bool mayWriteOver(KernelOp kernel, unsigned input, unsigned result);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_VERIFYMEMORYPLAN_H
