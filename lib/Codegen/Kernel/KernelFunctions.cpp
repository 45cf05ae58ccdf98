// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

using namespace mlir;
using namespace mlir::ad;

SmallVector<Type> ad::functionArgumentTypes(KernelOp kernel) {
  Type index = IndexType::get(kernel.getContext()), pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  SmallVector<Type> types;
  for (Type type : llvm::concat<const Type>(kernel.getArgumentTypes(), kernel.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    types.push_back(tensor ? pointer : type);
    if (tensor)
      types.append(tensor.getNumDynamicDims(), index);
  }
  return types;
}

func::FuncOp ad::defineHostFunction(KernelOp kernel, StringRef suffix, TypeRange more, TypeRange results) {
  OpBuilder builder(kernel);
  SmallVector<Type> types = functionArgumentTypes(kernel);
  llvm::append_range(types, more);
  auto function = func::FuncOp::create(builder, kernel.getLoc(), (kernel.getSymName() + suffix).str(),
                                       builder.getFunctionType(types, results));
  function.setPrivate();
  function.addEntryBlock();
  return function;
}
