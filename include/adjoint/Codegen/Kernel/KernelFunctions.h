// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the functions of kernels have in common on all targets.
#ifndef ADJOINT_CODEGEN_KERNEL_KERNELFUNCTIONS_H
#define ADJOINT_CODEGEN_KERNEL_KERNELFUNCTIONS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {

/// The class whose emitter made the kernel.
constexpr char kClassAttr[] = "adrt.class";

/// The types of a function's arguments: a pointer and the dynamic sizes of each tensor, scalars as they are,
/// first of the kernel's arguments, then of its results.
SmallVector<Type> functionArgumentTypes(KernelOp kernel);

/// Defines a private function of the host program, with an entry block, before the kernel in the module. It
/// has the name of the kernel and the suffix, and after the arguments above those of the types `more`.
func::FuncOp defineHostFunction(KernelOp kernel, StringRef suffix, TypeRange more, TypeRange results);

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_KERNELFUNCTIONS_H
