// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitStaging.h"
#include "../../../Kernel/KernelTypes.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using codegen::memoryBytes;
using codegen::memoryType;

void SplitStaging::copy(const Box &box, Value target, Value firstRow, Value count, Value firstElement) {
  int64_t bytes = memoryBytes(box.tensor.element);
  bool isAligned = box.rowLength * bytes % kChunkBytes == 0 && box.elements * bytes % kChunkBytes == 0;
  (this->*(isAligned ? &SplitStaging::copyChunks : &SplitStaging::copyElements))(box, target, firstRow, count,
                                                                                 firstElement);
}

void SplitStaging::copyChunks(const Box &box, Value target, Value firstRow, Value count, Value firstElement) {
  OpBuilder &builder = code.builder;
  int64_t ofChunk = kChunkBytes / memoryBytes(box.tensor.element), chunks = box.elements / ofChunk;
  Value first = code.add(code.binary<arith::MulIOp>(firstRow, box.rowLength), firstElement);
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  code.forEach(box.rows * chunks, threads, [&](Value number) {
    Value row = code.binary<arith::DivUIOp>(number, chunks),
          chunk = code.binary<arith::RemUIOp>(number, chunks);
    Value wideRow = code.resized(row, 64);
    Value inRow = code.resized(code.binary<arith::MulIOp>(chunk, ofChunk), 64);
    Value isThere = code.binary<arith::AndIOp>(
        code.isBelow(wideRow, count), code.isBelow(code.add(firstElement, inRow), code.i64(box.rowLength)));
    Value element = code.add(code.add(first, code.binary<arith::MulIOp>(wideRow, box.rowLength)), inRow);
    Value source = code.at(box.tensor.pointer, memoryType(box.tensor.element), element);
    Value byte = code.add(code.add(target, code.binary<arith::MulIOp>(row, box.pitch)),
                          code.binary<arith::MulIOp>(chunk, kChunkBytes));
    NVVM::CpAsyncOp::create(builder, code.loc, at(byte),
                            LLVM::AddrSpaceCastOp::create(builder, code.loc, global, source), kChunkBytes,
                            NVVM::LoadCacheModifierKind::CG,
                            code.select(isThere, code.i32(kChunkBytes), code.i32(0)));
  });
}

void SplitStaging::copyElements(const Box &box, Value target, Value firstRow, Value count,
                                Value firstElement) {
  Type memory = memoryType(box.tensor.element);
  Value zero = numberConstant(code.builder, code.loc, memory, 0);
  Value first = code.add(code.binary<arith::MulIOp>(firstRow, box.rowLength), firstElement);
  code.loop(code.thread, code.i32(box.rows * box.elements), code.i32(threads), [&](Value number) {
    Value row = code.binary<arith::DivUIOp>(number, box.elements);
    Value inRow = code.binary<arith::RemUIOp>(number, box.elements);
    Value wideRow = code.resized(row, 64), wide = code.resized(inRow, 64);
    Value isThere = code.binary<arith::AndIOp>(
        code.isBelow(wideRow, count), code.isBelow(code.add(firstElement, wide), code.i64(box.rowLength)));
    Value element = code.add(code.add(first, code.binary<arith::MulIOp>(wideRow, box.rowLength)), wide);
    Value loaded = code.load(box.tensor.pointer, memory, code.select(isThere, element, code.i64(0)));
    Value start = at(code.add(target, code.binary<arith::MulIOp>(row, box.pitch)));
    code.store(start, inRow, code.select(isThere, loaded, zero));
  });
}

void SplitStaging::commit() { NVVM::CpAsyncCommitGroupOp::create(code.builder, code.loc); }

void SplitStaging::wait(int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(code.builder, code.loc, static_cast<uint32_t>(pending));
  code.synchronize();
}

SmallVector<Value> SplitStaging::load(Type element, Value byte, int64_t count) {
  OpBuilder &builder = code.builder;
  Type memory = memoryType(element);
  int64_t bytes = memoryBytes(element);
  SmallVector<Value> values;
  if (count == 1) {
    values.push_back(LLVM::LoadOp::create(builder, code.loc, memory, at(byte), bytes));
  } else {
    Value vector = LLVM::LoadOp::create(builder, code.loc, VectorType::get(count, memory), at(byte),
                                        std::min(kAccessBytes, count * bytes));
    for (int64_t i = 0; i < count; ++i) {
      Value position =
          LLVM::ConstantOp::create(builder, code.loc, builder.getI32Type(), static_cast<int32_t>(i));
      values.push_back(LLVM::ExtractElementOp::create(builder, code.loc, vector, position));
    }
  }
  for (Value &value : values) {
    if (memory != element)
      value = arith::BitcastOp::create(builder, code.loc, element, value);
    value = convertScalar(builder, code.loc, value, code.accumulator);
  }
  return values;
}
