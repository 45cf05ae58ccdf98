// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The functions of a kernel that code generation has made.

#include "KernelFunctions.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::ad;

func::FuncOp host::companionOf(func::FuncOp kernel, StringRef suffix) {
  return kernel->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>((kernel.getSymName() + suffix).str());
}

LaunchConfigAttr host::launchConfigOf(func::FuncOp function) {
  return function.isExternal() ? function->getAttrOfType<LaunchConfigAttr>(kLaunchConfigAttr) : nullptr;
}
