// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::ad;

Value device::sharedMemory(OpBuilder &builder, Operation *function, int64_t bytes, StringRef suffix,
                           int64_t alignment) {
  Location loc = function->getLoc();
  OpBuilder outside(function);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes);
  // In names of kernels only digits follow `$`.
  std::string name = (SymbolTable::getSymbolName(function).getValue() + "$" + suffix).str();
  auto linkage = bytes == 0 ? LLVM::Linkage::External : LLVM::Linkage::Internal;
  auto global = LLVM::GlobalOp::create(outside, loc, type, /*isConstant=*/false, linkage, name, Attribute(),
                                       alignment, device::kSharedSpace);
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value device::addBytes(OpBuilder &builder, Location loc, Value pointer, Value bytes) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ValueRange{offset});
}
