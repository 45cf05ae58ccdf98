// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The signature of entries, and the code that every component creates.

#include "EntryBuilder.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Support/SymbolName.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

FunctionType host::entryType(MLIRContext *context) {
  Type pointer = LLVM::LLVMPointerType::get(context);
  return FunctionType::get(context, {pointer, pointer, pointer}, IntegerType::get(context, 32));
}

// adrt_tensor: data, shape, rank, element type, memory.
static Type typeOfTensor(MLIRContext *context) {
  Type pointer = LLVM::LLVMPointerType::get(context), i32 = IntegerType::get(context, 32);
  return LLVM::LLVMStructType::getLiteral(context, {pointer, pointer, i32, i32, i32});
}

EntryBuilder::EntryBuilder(func::FuncOp source, HostModule &module, const HostOptions &options)
    : source(source), module(module), options(options), builder(source), loc(source.getLoc()),
      pointerType(LLVM::LLVMPointerType::get(builder.getContext())),
      tensorType(typeOfTensor(builder.getContext())) {
  function = func::FuncOp::create(builder, loc, adrt::entrySymbol(source.getSymName()),
                                  entryType(builder.getContext()));
  builder.setInsertionPointToStart(function.addEntryBlock());
  context = function.getArgument(0);
}

Value EntryBuilder::call(StringRef name, Type result, ValueRange operands) {
  SmallVector<Type> types(operands.getTypes());
  Type declared = result ? result : LLVM::LLVMVoidType::get(builder.getContext());
  auto callee = module.runtimeFunction(name, declared, types);
  auto op = LLVM::CallOp::create(builder, loc, callee, operands);
  return result ? op.getResult() : Value();
}

void EntryBuilder::guard(Value status) { GuardOp::create(builder, loc, status); }

// A service that returns no memory has recorded the reason, in most cases that too little is free.
void EntryBuilder::guardMemory(Value pointer, Location user) {
  guard(call("adrt_require_allocated", builder.getI32Type(),
             {context, pointer, module.site(builder, user, "")}));
}

Value EntryBuilder::stackSlot(Type type, int64_t count, unsigned alignment) {
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  Value size = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), std::max<int64_t>(count, 1));
  return LLVM::AllocaOp::create(builder, loc, pointerType, type, size, alignment);
}

Value EntryBuilder::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
}
Value EntryBuilder::i64(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), value);
}
Value EntryBuilder::indexConstant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value EntryBuilder::toI64(Value index) {
  return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), index);
}

Value EntryBuilder::elementAddress(Type type, Value array, int32_t index) {
  return LLVM::GEPOp::create(builder, loc, pointerType, type, array, ArrayRef<LLVM::GEPArg>{index});
}
Value EntryBuilder::fieldAddress(Type structType, Value base, int32_t field) {
  return LLVM::GEPOp::create(builder, loc, pointerType, structType, base, ArrayRef<LLVM::GEPArg>{0, field});
}
Value EntryBuilder::argument(int32_t number) {
  return elementAddress(tensorType, function.getArgument(1), number);
}
Value EntryBuilder::result(int32_t number) {
  return elementAddress(tensorType, function.getArgument(2), number);
}
