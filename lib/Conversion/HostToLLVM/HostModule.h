// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Globals and declarations that the entries of a module share: declarations of runtime functions, strings,
// source locations, constant data, kernel numbers. Each exists once in the module, however many entries use
// it.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTMODULE_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTMODULE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::ad::host {

class HostModule {
public:
  explicit HostModule(ModuleOp module) : module(module) {}

  LLVM::LLVMFuncOp runtimeFunction(StringRef name, Type result, ArrayRef<Type> arguments);
  /// Address of a zero-terminated string.
  Value string(OpBuilder &builder, Location loc, StringRef text);
  /// Address of an adrt_site for an operation.
  Value site(OpBuilder &builder, Location loc, StringRef operation);
  /// Address of constant data in its memory layout.
  Value data(OpBuilder &builder, Location loc, ElementsAttr value);
  /// Number of a kernel in the order of first use.
  int64_t kernelNumber(StringRef kernel);
  ArrayRef<std::string> kernelNames() const { return kernels; }
  /// The function (closure, begin, end) that runs a kernel over a range of units with operands from memory.
  func::FuncOp rangeFunction(func::FuncOp kernel, Type closureType);
  /// Whether a loop that launches the kernel gets a copy of its code instead of a call: short code without
  /// loops.
  bool isInlinable(func::FuncOp kernel);
  void markCalled(func::FuncOp kernel) { called.insert(kernel.getSymName()); }
  /// Erases kernels that were only inlined.
  void eraseInlined();

private:
  Value addressOf(OpBuilder &builder, Location loc, LLVM::GlobalOp global);

  ModuleOp module;
  llvm::StringMap<LLVM::GlobalOp> strings, sites;
  DenseMap<Attribute, LLVM::GlobalOp> constants;
  SmallVector<std::string> kernels;
  llvm::StringMap<func::FuncOp> ranges;
  llvm::StringMap<bool> inlinable;
  llvm::StringSet<> called;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTMODULE_H
