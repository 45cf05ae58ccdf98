// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory on the stack of a thread: copies of operands, rows and accumulators of a kernel.

#ifndef ADJOINT_LIB_CODEGEN_CPU_STACKMEMORY_H
#define ADJOINT_LIB_CODEGEN_CPU_STACKMEMORY_H

#include "CPUComponent.h"

namespace mlir::ad::cpu {

/// Copies of all operands of a kernel: more would not fit a thread's stack with everything else.
inline constexpr int64_t kStackBytes = 1024 * 1024;

class StackMemory : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// Elements of a type that memory has, in the entry block.
  Value allocate(Type memory, int64_t elements);
  /// Bytes that copies of operands may still take.
  int64_t left() const { return std::max<int64_t>(0, kStackBytes - used); }

private:
  int64_t used = 0; // by all code of the kernel
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_STACKMEMORY_H
