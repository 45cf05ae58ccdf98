// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components that only the CPU has.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CPUCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_CPU_CPUCOMPONENT_H

#include "../Kernel/KernelComponent.h"
#include "CPUContext.h"

namespace mlir::ad::cpu {

class CPUComponent : public KernelComponent {
public:
  explicit CPUComponent(CPUContext &context)
      : KernelComponent(context), context(context), tiles(context.tiles) {}

protected:
  /// Whether both conditions hold; null is one that always does.
  Value both(Value a, Value b) { return a && b ? binary<arith::AndIOp>(a, b) : a ? a : b; }

  CPUContext &context;
  const TileTable &tiles;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CPUCOMPONENT_H
