// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes of the functions of kernels.
#ifndef ADJOINT_CODEGEN_KERNEL_KERNELATTRIBUTES_H
#define ADJOINT_CODEGEN_KERNEL_KERNELATTRIBUTES_H

namespace mlir::ad {

/// The class whose emitter made the kernel.
constexpr char kClassAttr[] = "ad.class";

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_KERNELATTRIBUTES_H
