// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SwizzledRows.h"
#include "adjoint/Codegen/Kernel/LaunchShape.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Rows of a matrix of `ldmatrix`, after which the swizzle repeats; elements of a chunk.
static constexpr int64_t kMatrixRows = 8, kChunkElements = kChunkBytes / 2;

int64_t SwizzledRows::pitchOf(int64_t elements) { return llvm::alignTo(elements * 2, kBankRowBytes); }

//===- Copies -------------------------------------------------------------===//

// If the threads have whole rows, those of a thread are a number of rows apart.
void SwizzledRows::forEachChunk(int64_t rows, int64_t elements, function_ref<void(const Place &)> body) {
  int64_t chunks = elements / kChunkElements, rowsOfThreads = threads / chunks;
  auto placeOf = [&](Value number) {
    return Place{code.binary<arith::DivUIOp>(number, chunks), code.binary<arith::RemUIOp>(number, chunks),
                 number};
  };
  if (threads % chunks != 0 || rows % rowsOfThreads != 0)
    return code.forEach(rows * chunks, threads, [&](Value number) { body(placeOf(number)); });
  Place first = placeOf(code.thread);
  for (int64_t row = 0; row < rows; row += rowsOfThreads)
    body({code.add(first.row, row), first.chunk, code.add(first.number, row * chunks)});
}

void SwizzledRows::copy(Value rows, int64_t pitch, const Place &place, Value source, Value bytes) {
  Value swizzled =
      code.binary<arith::XOrIOp>(place.chunk, code.binary<arith::RemUIOp>(place.row, kMatrixRows));
  Value byte = code.add(code.binary<arith::MulIOp>(place.row, pitch),
                        code.binary<arith::MulIOp>(swizzled, kChunkBytes));
  Type global = LLVM::LLVMPointerType::get(code.builder.getContext(), kGlobalSpace);
  source = LLVM::AddrSpaceCastOp::create(code.builder, code.loc, global, source);
  NVVM::CpAsyncOp::create(code.builder, code.loc, code.at(rows, code.builder.getI8Type(), byte), source,
                          kChunkBytes, NVVM::LoadCacheModifierKind::CG, bytes);
}

//===- Fragments ----------------------------------------------------------===//

// Eight threads give the rows of one of four matrices, which are two along rows by two along chunks.
SmallVector<Value> SwizzledRows::load(Value rows, int64_t pitch, Value row, Value chunk, int64_t evenChunk,
                                      bool transposes) {
  OpBuilder &builder = code.builder;
  Value inMatrix = code.binary<arith::RemUIOp>(code.thread, kMatrixRows);
  row = code.add(code.binary<arith::MulIOp>(row, kMatrixRows), inMatrix);
  // An even number of chunks changes other bits than the number of a matrix does.
  chunk = code.binary<arith::XOrIOp>(code.binary<arith::XOrIOp>(chunk, inMatrix), evenChunk);
  Value place =
      code.add(code.binary<arith::MulIOp>(row, pitch), code.binary<arith::MulIOp>(chunk, kChunkBytes));
  Value pointer = code.at(rows, builder.getI8Type(), place);
  Type word = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, word));
  auto matrix = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), kMatrixRows, kMatrixRows);
  Value loaded = NVVM::LdMatrixOp::create(builder, code.loc, type, pointer, 4,
                                          transposes ? NVVM::MMALayout::col : NVVM::MMALayout::row, matrix,
                                          NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i) {
    Value bits = LLVM::ExtractValueOp::create(builder, code.loc, loaded, i);
    if (element.isF16())
      bits = LLVM::BitcastOp::create(builder, code.loc, VectorType::get(2, element), bits);
    registers.push_back(bits);
  }
  return registers;
}

// Of four matrices the number along what comes first, and second.
std::pair<Value, Value> SwizzledRows::matrixOfThread() {
  Value matrix = code.binary<arith::RemUIOp>(code.binary<arith::DivUIOp>(code.thread, kMatrixRows), 4);
  return {code.binary<arith::RemUIOp>(matrix, 2), code.binary<arith::DivUIOp>(matrix, 2)};
}

SmallVector<Value> SwizzledRows::loadA(Value rows, int64_t pitch, int64_t k) {
  auto [row, chunk] = matrixOfThread();
  Value warp = code.binary<arith::DivUIOp>(code.thread, kWarpThreads);
  row = code.add(code.binary<arith::MulIOp>(warp, 2), row);
  return load(rows, pitch, row, chunk, k / kChunkElements, false);
}

SmallVector<Value> SwizzledRows::loadB(Value rows, int64_t pitch, int64_t k) {
  auto [chunk, row] = matrixOfThread();
  return load(rows, pitch, row, chunk, k / kChunkElements, false);
}

SmallVector<Value> SwizzledRows::loadTransposedB(Value rows, int64_t pitch, int64_t column) {
  auto [row, chunk] = matrixOfThread();
  return load(rows, pitch, row, chunk, column / kChunkElements, true);
}
