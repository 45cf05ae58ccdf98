// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arguments of a kernel's function: pointers and sizes of its tensors, scalars, and a range of its work. They
// are bound once, before any code of the kernel.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELARGUMENTS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELARGUMENTS_H

#include "KernelComponent.h"
#include "Values/ValueSource.h"

namespace mlir::ad::codegen {

class KernelArguments : public KernelComponent {
public:
  KernelArguments(KernelContext &context, ValueSource &values) : KernelComponent(context), values(values) {}

  /// Binds the arguments, at the start of the function, and returns those after the kernel's own, which
  /// select a part of the work.
  ValueRange bindTensors();
  /// Computes the scalars of the kernel's body.
  LogicalResult bindScalars();
  Value sizeOf(Value tensor, int64_t axis);

private:
  ValueSource &values;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELARGUMENTS_H
