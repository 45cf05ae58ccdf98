// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The registrations of the kernel classes for GPUs, each in the folder of its class.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CLASSES_CLASSES_H
#define ADJOINT_LIB_CODEGEN_GPU_CLASSES_CLASSES_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::ad::device {

void registerContractionClass(DialectRegistry &registry);
void registerElementwiseClass(DialectRegistry &registry);
void registerGenericClass(DialectRegistry &registry);
void registerRowClass(DialectRegistry &registry);
void registerTransposeClass(DialectRegistry &registry);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CLASSES_CLASSES_H
