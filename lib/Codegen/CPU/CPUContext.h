// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The code of one kernel for the CPU while it is emitted, with the tables of the CPU.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CPUCONTEXT_H
#define ADJOINT_LIB_CODEGEN_CPU_CPUCONTEXT_H

#include "../Kernel/KernelContext.h"
#include "CPUTypes.h"

namespace mlir::ad::cpu {

struct CPUContext : KernelContext {
  CPUContext(KernelOp kernel, FunctionOpInterface function, int64_t lanes, const TileTable &tiles,
             bool hasDotProducts)
      : KernelContext(kernel, function, lanes), tiles(tiles), hasDotProducts(hasDotProducts) {}

  const TileTable tiles;
  const bool hasDotProducts; // of pairs of bf16 and of four i8
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CPUCONTEXT_H
