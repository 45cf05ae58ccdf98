// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "StackMemory.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

Value StackMemory::allocate(Type memory, int64_t elements) {
  used += elements * memory.getIntOrFloatBitWidth() / 8;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  Value count = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), elements);
  return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), memory, count,
                                kCore.lineBytes);
}
