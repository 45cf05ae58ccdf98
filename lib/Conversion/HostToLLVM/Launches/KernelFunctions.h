// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The functions of a kernel that code generation has made: the kernel itself, and functions next to it whose
// names have a suffix of WorkUnits.h.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_KERNELFUNCTIONS_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_KERNELFUNCTIONS_H

#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad::host {

/// The function next to a kernel with this suffix; null if there is none.
func::FuncOp companionOf(func::FuncOp kernel, StringRef suffix);
/// How to launch the GPU kernel that the function declares (ad-emit-gpu); null if it declares none.
LaunchConfigAttr launchConfigOf(func::FuncOp function);

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_KERNELFUNCTIONS_H
