// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaFragments.h"
#include "ByteFloats.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Rows of a matrix of `ldmatrix`, and bytes of a register.
static constexpr int64_t kMatrixRows = 8, kWordBytes = 4;

// f32 is rounded to tf32 here; `mma` would cut off the low bits.
SmallVector<Value> MmaFragments::load(const StagedOperand &part, Value stage, Value first, int64_t k) {
  Type element = getElementTypeOrSelf(part.operand->get().getType()), word = builder.getI32Type();
  bool byWords = !part.kMajor && part.elementBytes() == kWordBytes;
  SmallVector<Value> registers =
      byWords ? loadWords(part, stage, first, k) : loadMatrices(part, stage, first, k);
  for (Value &bits : registers) {
    if (element.isF16())
      bits = LLVM::BitcastOp::create(builder, loc, VectorType::get(2, element), bits);
    if (!element.isF32())
      continue;
    bits = LLVM::BitcastOp::create(builder, loc, element, bits);
    auto nearest = NVVM::FPRoundingModeAttr::get(builder.getContext(), NVVM::FPRoundingMode::RNA);
    bits = NVVM::ConvertFloatToTF32Op::create(builder, loc, word, bits, nearest);
  }
  return registers;
}

// ldmatrix.x4: eight threads each give the row addresses of one of four matrices of 8 rows by 16 bytes. Tiles
// that are not K-major are transposed (.trans).
SmallVector<Value> MmaFragments::loadMatrices(const StagedOperand &part, Value stage, Value first,
                                              int64_t k) {
  Value eight = indexConstant(kMatrixRows), kIndex = indexConstant(k);
  auto [matrix, inMatrix] = divide(mapping.lane, eight);
  auto [high, low] = divide(matrix, indexConstant(2));
  auto [matrixMN, matrixK] = part.isA ? std::pair(low, high) : std::pair(high, low);
  auto plusEights = [&](Value base, Value eights) {
    return binary<arith::AddIOp>(base, binary<arith::MulIOp>(eights, eight));
  };
  Value row, chunk;
  if (part.kMajor) {
    row = plusEights(first, matrixMN);
    chunk = binary<arith::AddIOp>(indexConstant(k * part.elementBytes() / kChunkBytes), matrixK);
  } else {
    row = plusEights(kIndex, matrixK);
    chunk = binary<arith::DivUIOp>(plusEights(first, matrixMN), eight);
  }
  Value pointer =
      sharedPointer(swizzled.byteOfChunk(part, stage, binary<arith::AddIOp>(row, inMatrix), chunk));
  Type word = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, word));
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(builder, loc, type, pointer, 4,
                                          part.kMajor ? NVVM::MMALayout::row : NVVM::MMALayout::col, shape,
                                          NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
  return registers;
}

// 32-bit elements of tiles that are not K-major, which `ldmatrix` cannot transpose: each thread loads its own
// element of each matrix, one of eight along M or N and of four along K.
SmallVector<Value> MmaFragments::loadWords(const StagedOperand &part, Value stage, Value first, int64_t k) {
  auto [laneMN, laneK] = divide(mapping.lane, indexConstant(4));
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i) {
    auto [matrixMN, matrixK] = part.isA ? std::pair(i % 2, i / 2) : std::pair(i / 2, i % 2);
    Value row = binary<arith::AddIOp>(laneK, indexConstant(k + matrixK * kChunkBytes / kWordBytes));
    Value column = binary<arith::AddIOp>(first, indexConstant(matrixMN * kMatrixRows));
    auto [chunk, rest] =
        divide(binary<arith::AddIOp>(column, laneMN), indexConstant(kChunkBytes / kWordBytes));
    Value byte = binary<arith::MulIOp>(rest, indexConstant(kWordBytes));
    byte = binary<arith::AddIOp>(byte, swizzled.byteOfChunk(part, stage, row, chunk));
    registers.push_back(LLVM::LoadOp::create(builder, loc, builder.getI32Type(), sharedPointer(byte)));
  }
  return registers;
}

static NVVM::MMATypes instructionType(Type element) {
  if (element.isInteger(8))
    return NVVM::MMATypes::s8;
  if (element.isF32())
    return NVVM::MMATypes::tf32;
  return element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
}

SmallVector<Value> MmaFragments::multiply(ValueRange a, ValueRange b, ValueRange accumulators) {
  Type element = operandType();
  auto result = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                 SmallVector<Type>(kAccumulators, accumulatorType()));
  Value next = isByteFloat(element) ? multiplyBytes(a, b, accumulators, result) : Value();
  if (!next) {
    NVVM::MMATypes type = instructionType(element);
    auto overflow = element.isInteger() ? std::optional(NVVM::MMAIntOverflow::wrapped) : std::nullopt;
    int64_t k = kKBytes / memoryBytes(element);
    next = NVVM::MmaOp::create(builder, loc, result, a, b, accumulators, ArrayRef<int64_t>{kM, kN, k},
                               std::nullopt, overflow, std::array{type, type},
                               std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  }
  SmallVector<Value> values;
  for (int64_t i = 0; i < kAccumulators; ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, next, i));
  return values;
}

// nvvm.mma.sync does not have these types.
Value MmaFragments::multiplyBytes(ValueRange a, ValueRange b, ValueRange accumulators, Type result) {
  SmallVector<Value> operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, accumulators);
  StringAttr name = builder.getStringAttr(intrinsicOfByteFloats(contraction));
  return LLVM::CallIntrinsicOp::create(builder, loc, result, name, operands)->getResult(0);
}
