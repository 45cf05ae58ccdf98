// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitTensorCores.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Threads that share a row of a fragment, and the distance of a thread's rows and of its elements.
static constexpr int64_t kThreadsOfRow = 4, kHalf = 8;

static Value inWarp(AttentionCode &code) { return code.binary<arith::RemUIOp>(code.thread, kWarpThreads); }

Value SplitTensorCores::rowOfThread(int64_t number) {
  return code.add(code.binary<arith::DivUIOp>(inWarp(code), kThreadsOfRow), number * kHalf);
}

Value SplitTensorCores::operandOf(Value word) {
  if (element.isBF16())
    return word;
  return LLVM::BitcastOp::create(code.builder, code.loc, VectorType::get(2, element), word);
}

// Rows that a tile lacks are the last one: nothing reads their products.
SmallVector<Value> SplitTensorCores::rowsAt(int64_t byte, int64_t stride, Value k) {
  SmallVector<Value> registers;
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t number = 0; number < 2; ++number) {
      Value row = code.binary<arith::MinUIOp>(rowOfThread(number), code.i32(rows - 1));
      Value place = code.add(code.binary<arith::MulIOp>(row, stride), code.add(k, columnOfThread()));
      SmallVector<Value> two = code.loadVector(code.shared(byte), code.add(place, half * kHalf), 2);
      registers.push_back(mma.pack(two[0], two[1]));
    }
  return registers;
}

SmallVector<Value> SplitTensorCores::columnsAt(Value byte, int64_t pitch, Value k) {
  SmallVector<Value> registers;
  Value start = code.add(byte, code.binary<arith::MulIOp>(rowOfThread(0), pitch));
  Value first = code.add(k, columnOfThread());
  for (int64_t half = 0; half < 2; ++half) {
    Value place = code.add(start, code.binary<arith::MulIOp>(code.add(first, half * kHalf), 2));
    registers.push_back(
        operandOf(LLVM::LoadOp::create(code.builder, code.loc, code.builder.getI32Type(), at(place), 4)));
  }
  return registers;
}

SmallVector<Value> SplitTensorCores::transposedAt(Value byte, int64_t pitch) {
  SmallVector<Value> registers;
  Value start = code.add(byte, code.binary<arith::MulIOp>(rowOfThread(0), 2));
  for (int64_t half = 0; half < 2; ++half) {
    Value words[2];
    for (int64_t i = 0; i < 2; ++i) {
      Value row = code.add(columnOfThread(), half * kHalf + i);
      Value place = code.add(start, code.binary<arith::MulIOp>(row, pitch));
      words[i] = code.resized(
          LLVM::LoadOp::create(code.builder, code.loc, code.builder.getI16Type(), at(place), 2), 32);
    }
    registers.push_back(
        operandOf(code.binary<arith::OrIOp>(words[0], code.binary<arith::ShLIOp>(words[1], 16))));
  }
  return registers;
}
