// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emitting calls, words and conversions.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::ad::emulator;

Lowering::Lowering(ModuleOp module, SiteTable &sites, const DataLayout &layout)
    : builder(module.getContext()), i1(builder.getI1Type()), i16(builder.getI16Type()),
      i32(builder.getI32Type()), i64(builder.getI64Type()), f32(builder.getF32Type()),
      pointer(LLVM::LLVMPointerType::get(module.getContext())), module(module), sites(sites), layout(layout) {
}

void Lowering::setOperation(Operation *op) {
  operation = op;
  siteIndex = sites.add(op);
  builder.setInsertionPoint(op);
}

Value Lowering::self() const {
  return operation->getParentOfType<LLVM::LLVMFuncOp>().getBody().front().getArgument(0);
}

Value Lowering::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc(), i32,
                                  builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value Lowering::constant64(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc(), i64, builder.getI64IntegerAttr(value));
}

Value Lowering::null() { return LLVM::ZeroOp::create(builder, loc(), pointer); }

Value Lowering::call(StringRef function, Type result, ValueRange arguments) {
  SmallVector<Value> all{self()};
  llvm::append_range(all, arguments);
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(function);
  if (!callee) {
    // Pointers lose their address spaces later. The functions of the machine never have them.
    auto types = llvm::map_to_vector(all, [&](Value value) {
      return isa<LLVM::LLVMPointerType>(value.getType()) ? pointer : value.getType();
    });
    OpBuilder atStart = OpBuilder::atBlockBegin(module.getBody());
    Type returned = result ? result : LLVM::LLVMVoidType::get(context());
    callee = LLVM::LLVMFuncOp::create(atStart, module.getLoc(), function,
                                      LLVM::LLVMFunctionType::get(returned, types));
  }
  auto made = LLVM::CallOp::create(builder, loc(), callee, all);
  return result ? made.getResult() : Value();
}

Value Lowering::callAt(StringRef function, Type result, SmallVector<Value> arguments) {
  arguments.push_back(site());
  return call(function, result, arguments);
}

Value Lowering::words(unsigned count) {
  constexpr unsigned alignment = 64;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&operation->getParentOfType<LLVM::LLVMFuncOp>().getBody().front());
  return LLVM::AllocaOp::create(builder, loc(), pointer, i32, constant(count), alignment);
}

void Lowering::putWord(Value memory, unsigned index, Value value) {
  Value at = LLVM::GEPOp::create(builder, loc(), pointer, i32, memory,
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  LLVM::StoreOp::create(builder, loc(), value, at, /*alignment=*/4);
}

Value Lowering::getWord(Value memory, unsigned index, Type type) {
  Value at = LLVM::GEPOp::create(builder, loc(), pointer, i32, memory,
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  return LLVM::LoadOp::create(builder, loc(), type, at, /*alignment=*/4);
}

Value Lowering::asInteger(Value value, unsigned bits) {
  Type type = value.getType(), wanted = builder.getIntegerType(bits);
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::PtrToIntOp::create(builder, loc(), wanted, value);
  if (!type.isInteger()) {
    auto width = static_cast<unsigned>(layout.getTypeSizeInBits(type).getFixedValue());
    type = builder.getIntegerType(width);
    value = LLVM::BitcastOp::create(builder, loc(), type, value);
  }
  if (type.getIntOrFloatBitWidth() < bits)
    return LLVM::ZExtOp::create(builder, loc(), wanted, value);
  if (type.getIntOrFloatBitWidth() > bits)
    return LLVM::TruncOp::create(builder, loc(), wanted, value);
  return value;
}

Value Lowering::fromInteger(Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (type == i1)
    return LLVM::ICmpOp::create(builder, loc(), LLVM::ICmpPredicate::ne, value, constant(0));
  auto width = static_cast<unsigned>(layout.getTypeSizeInBits(type).getFixedValue());
  if (width < value.getType().getIntOrFloatBitWidth())
    value = LLVM::TruncOp::create(builder, loc(), builder.getIntegerType(width), value);
  return value.getType() == type ? value : Value(LLVM::BitcastOp::create(builder, loc(), type, value));
}

Value Lowering::structFromWords(Value memory, LLVM::LLVMStructType type) {
  Value result = LLVM::PoisonOp::create(builder, loc(), type);
  unsigned word = 0;
  for (auto [index, element] : llvm::enumerate(type.getBody())) {
    Value value =
        element == i1 ? fromInteger(getWord(memory, word, i32), i1) : getWord(memory, word, element);
    result = LLVM::InsertValueOp::create(builder, loc(), result, value, static_cast<int64_t>(index));
    word += std::max<unsigned>(1, static_cast<unsigned>(layout.getTypeSize(element).getFixedValue() / 4));
  }
  return result;
}

void Lowering::replace(Value value) {
  if (value && operation->getNumResults())
    operation->getResult(0).replaceAllUsesWith(value);
  operation->erase();
}

LogicalResult Lowering::refuse(const Twine &why) { return operation->emitOpError() << why; }
