// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments of a kernel's function: pointers and sizes of its tensors, scalars, and a range of its work. They
// are bound once, before any code of the kernel.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELARGUMENTS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELARGUMENTS_H

#include "KernelComponent.h"

namespace mlir::ad::codegen {

class KernelArguments : public KernelComponent {
public:
  using KernelComponent::KernelComponent;

  /// Binds the arguments and computes the scalars of the kernel's body, at the start of the function.
  LogicalResult bind();
  Value sizeOf(Value tensor, int64_t axis);

private:
  void bindTensors();
  LogicalResult bindScalars();
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELARGUMENTS_H
