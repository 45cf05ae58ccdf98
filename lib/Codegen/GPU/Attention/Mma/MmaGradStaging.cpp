// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaGradStaging.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static constexpr int64_t kNumberBytes = sizeof(float);

MmaGradStaging::MmaGradStaging(AttentionCode &code, const AttentionShape &attention,
                               const MmaGradShape &shape, AttentionMemory &memory)
    : code(code), shape(shape), memory(memory), rows(code, attention.element, shape.threads()),
      mma(code, attention.element) {}

Value MmaGradStaging::at(Value stage, int64_t byte) {
  return code.at(code.shared(shape.stages() + byte), code.builder.getI8Type(),
                 code.binary<arith::MulIOp>(stage, shape.stageBytes()));
}

//===- Copies -------------------------------------------------------------===//

void MmaGradStaging::copy(Side side, Value target, int64_t count, const Source &source) {
  const AttentionMemory::Tensor &tensor = side == Side::ofDepth ? source.ofDepth : source.ofWidth;
  rows.forEachChunk(count, shape.length(side), [&](const SwizzledRows::Place &place) {
    Value first = code.binary<arith::MulIOp>(source.number(place.row), shape.length(side));
    Value row = code.at(tensor.pointer, code.builder.getI16Type(), first);
    Value inRow = code.binary<arith::MulIOp>(place.chunk, kChunkBytes), bytes;
    if (source.isThere)
      bytes = code.select(source.isThere(place.row), code.i32(kChunkBytes), code.i32(0));
    rows.copy(target, shape.pitch(side), place, code.at(row, code.builder.getI8Type(), inRow), bytes);
  });
}

void MmaGradStaging::copyOwn(const Source &source) {
  for (Side side : {Side::ofDepth, Side::ofWidth})
    copy(side, code.shared(shape.own(side)), shape.rows(), source);
}

void MmaGradStaging::copyStep(Value stage, const Source &source) {
  for (Side side : {Side::ofDepth, Side::ofWidth})
    copy(side, at(stage, shape.inStage(side)), shape.step(), source);
}

void MmaGradStaging::copyStatistics(Value stage, function_ref<Value(Value row)> number) {
  Type global = LLVM::LLVMPointerType::get(code.builder.getContext(), kGlobalSpace);
  int64_t byte = shape.statistics();
  for (const AttentionMemory::Tensor *tensor : {&memory.logSum, &memory.delta}) {
    Value target = at(stage, byte);
    code.forEach(shape.step(), shape.threads(), [&](Value row) {
      Value source = code.at(tensor->pointer, code.accumulator, number(row));
      source = LLVM::AddrSpaceCastOp::create(code.builder, code.loc, global, source);
      NVVM::CpAsyncOp::create(code.builder, code.loc, code.at(target, code.accumulator, row), source,
                              kNumberBytes, NVVM::LoadCacheModifierKind::CA, Value());
    });
    byte += shape.step() * kNumberBytes;
  }
}

void MmaGradStaging::commit() { NVVM::CpAsyncCommitGroupOp::create(code.builder, code.loc); }

void MmaGradStaging::wait() {
  NVVM::CpAsyncWaitGroupOp::create(code.builder, code.loc, 0);
  code.synchronize();
}

//===- Products -----------------------------------------------------------===//

SmallVector<Fragment> MmaGradStaging::products(Side side, Value stage) {
  int64_t pitch = shape.pitch(side);
  SmallVector<Fragment> sums = mma.zeros(shape.step());
  for (int64_t k = 0; k < shape.length(side); k += MmaShape::kK) {
    SmallVector<Value> a = rows.loadA(code.shared(shape.own(side)), pitch, k);
    for (int64_t row = 0; row < shape.step(); row += 2 * MmaShape::kN) {
      SmallVector<Value> b = rows.loadB(at(stage, shape.inStage(side) + row * pitch), pitch, k);
      for (auto [half, fragment] : llvm::enumerate(MutableArrayRef(sums).slice(row / MmaShape::kN, 2)))
        fragment = mma.multiply(a, ArrayRef(b).slice(2 * half, 2), fragment);
    }
  }
  return sums;
}

// A fragment of A with 16 rows of the stage has the registers of two fragments of factors.
SmallVector<Fragment> MmaGradStaging::add(Side side, Value stage, ArrayRef<Registers> factors,
                                          ArrayRef<Fragment> sums) {
  SmallVector<Fragment> next(sums);
  int64_t pitch = shape.pitch(side);
  for (int64_t row = 0; row < shape.step(); row += MmaShape::kK) {
    SmallVector<Value> a;
    for (const Registers &half : factors.slice(row / MmaShape::kN, 2))
      llvm::append_range(a, half);
    for (int64_t column = 0; column < shape.length(side); column += 2 * MmaShape::kN) {
      SmallVector<Value> b =
          rows.loadTransposedB(at(stage, shape.inStage(side) + row * pitch), pitch, column);
      for (auto [half, fragment] : llvm::enumerate(MutableArrayRef(next).slice(column / MmaShape::kN, 2)))
        fragment = mma.multiply(a, ArrayRef(b).slice(2 * half, 2), fragment);
    }
  }
  return next;
}

// Where no key counts, each score is -inf and each weight 0.
MmaGradStaging::Statistics MmaGradStaging::statistics(Value stage, int64_t fragment) {
  Value first = code.add(mma.columnOfThread(), fragment * MmaShape::kN);
  int64_t byte = shape.statistics();
  Statistics found{code.loadVector(at(stage, byte), first, 2),
                   code.loadVector(at(stage, byte + shape.step() * kNumberBytes), first, 2)};
  for (Value &logSum : found.logSums)
    logSum = code.orZero(logSum);
  return found;
}
