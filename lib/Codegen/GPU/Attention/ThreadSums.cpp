// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ThreadSums.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

ThreadSums::ThreadSums(AttentionCode &code, int64_t count) : code(code), count(count) {
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPointToStart(&code.function.getFunctionBody().front());
  memory = LLVM::AllocaOp::create(
      code.builder, code.loc, LLVM::LLVMPointerType::get(code.builder.getContext()), code.accumulator,
      LLVM::ConstantOp::create(code.builder, code.loc, code.builder.getI64Type(), count));
}

// With an address that the compiler does not know, it cannot keep the sums in registers after all.
Value ThreadSums::start() { return code.at(memory, code.accumulator, code.hiddenCopy(code.i32(0))); }

void ThreadSums::clear() {
  Value first = start();
  for (int64_t i = 0; i < count; ++i)
    code.store(first, code.i32(i), code.real(0));
}

void ThreadSums::add(ValueRange more) {
  Value first = start();
  for (auto [i, x] : llvm::enumerate(more)) {
    Value number = code.i32(static_cast<int64_t>(i));
    code.store(first, number, code.plus(code.load(first, code.accumulator, number), x));
  }
}

SmallVector<Value> ThreadSums::load() {
  Value first = start();
  SmallVector<Value> sums;
  for (int64_t i = 0; i < count; ++i)
    sums.push_back(code.load(first, code.accumulator, code.i32(i)));
  return sums;
}
