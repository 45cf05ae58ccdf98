// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands of kernels in memory.

#include "KernelClosures.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

Type host::typeInClosure(Type type) {
  if (isa<IndexType>(type))
    return IntegerType::get(type.getContext(), 64);
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  return type;
}

Value host::convertForClosure(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<IndexType>(value.getType()) || isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, loc, type, value);
  return arith::BitcastOp::create(builder, loc, type, value);
}

LLVM::LLVMStructType KernelClosures::typeOf(ValueRange operands) {
  SmallVector<Type> types = llvm::map_to_vector(operands.getTypes(), typeInClosure);
  return LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
}

void KernelClosures::store(Value closure, ValueRange operands) {
  Type type = typeOf(operands);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Value address = entry.fieldAddress(type, closure, i);
    Value stored = convertForClosure(builder, loc, operand, typeInClosure(operand.getType()));
    LLVM::StoreOp::create(builder, loc, stored, address);
  }
}

Value KernelClosures::create(ValueRange operands) {
  Value closure = entry.stackSlot(typeOf(operands), 1);
  store(closure, operands);
  return closure;
}

std::pair<Value, Value> KernelClosures::functionAndClosure(func::FuncOp kernel, ValueRange operands) {
  module.markCalled(kernel);
  Value closure = create(operands);
  func::FuncOp range = module.rangeFunction(kernel, typeOf(operands));
  Value function = func::ConstantOp::create(builder, loc, range.getFunctionType(), range.getSymName());
  return {UnrealizedConversionCastOp::create(builder, loc, pointerType, function).getResult(0), closure};
}
