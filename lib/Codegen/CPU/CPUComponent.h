// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components that only the CPU kernel emitter has.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CPUCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_CPU_CPUCOMPONENT_H

#include "CPUTypes.h"
#include "adjoint/Codegen/Target/CPUs.h"

namespace mlir::ad::cpu {

class CPUComponent : public KernelComponent {
public:
  explicit CPUComponent(CPUKernelEmitter &emitter);

protected:
  /// Whether both conditions hold; null is one that always does.
  Value both(Value a, Value b) { return a && b ? binary<arith::AndIOp>(a, b) : a ? a : b; }

  CPUKernelEmitter &emitter;
  const TileTable &tiles;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CPUCOMPONENT_H
