// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaStaging.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Rows of a matrix of `ldmatrix`, after which the swizzle repeats; elements of a chunk.
static constexpr int64_t kMatrixRows = 8, kChunkElements = kChunkBytes / 2;

MmaStaging::MmaStaging(AttentionCode &code, const AttentionShape &attention, const MmaShape &shape,
                       AttentionMemory &memory, AttentionTiles &tiles)
    : code(code), attention(attention), shape(shape), memory(memory), tiles(tiles) {}

//===- Copies -------------------------------------------------------------===//

// If the threads have whole rows, those of a thread are a number of rows apart.
void MmaStaging::forEachChunk(int64_t rows, int64_t elements, function_ref<void(const Place &)> body) {
  int64_t chunks = elements / kChunkElements, rowsOfThreads = shape.threads() / chunks;
  auto placeOf = [&](Value number) {
    return Place{code.binary<arith::DivUIOp>(number, chunks), code.binary<arith::RemUIOp>(number, chunks),
                 number};
  };
  if (shape.threads() % chunks != 0 || rows % rowsOfThreads != 0)
    return code.forEach(rows * chunks, shape.threads(), [&](Value number) { body(placeOf(number)); });
  Place first = placeOf(code.thread);
  for (int64_t row = 0; row < rows; row += rowsOfThreads)
    body({code.add(first.row, row), first.chunk, code.add(first.number, row * chunks)});
}

void MmaStaging::copy(int64_t target, const Place &place, int64_t pitch, Value source, Value bytes) {
  Value swizzled =
      code.binary<arith::XOrIOp>(place.chunk, code.binary<arith::RemUIOp>(place.row, kMatrixRows));
  Value byte = code.add(code.binary<arith::MulIOp>(place.row, pitch),
                        code.binary<arith::MulIOp>(swizzled, kChunkBytes));
  Type global = LLVM::LLVMPointerType::get(code.builder.getContext(), kGlobalSpace);
  source = LLVM::AddrSpaceCastOp::create(code.builder, code.loc, global, source);
  NVVM::CpAsyncOp::create(code.builder, code.loc,
                          code.at(code.shared(target), code.builder.getI8Type(), byte), source, kChunkBytes,
                          NVVM::LoadCacheModifierKind::CG, bytes);
}

void MmaStaging::copyQueries(const Tile &tile) {
  forEachChunk(shape.rows(), shape.depth, [&](const Place &place) {
    Value first = code.binary<arith::MulIOp>(tiles.rowOf(tile, place.row).number, shape.depth);
    Value row = code.at(memory.query.pointer, code.builder.getI16Type(), first);
    Value inRow = code.binary<arith::MulIOp>(place.chunk, kChunkBytes);
    copy(0, place, shape.depthPitch(), code.at(row, code.builder.getI8Type(), inRow), Value());
  });
}

// Rows of keys follow each other in memory, too.
void MmaStaging::copyStep(const Tile &tile, Value first, Value count, int64_t step) {
  bool isKeys = step < shape.keyTiles;
  int64_t before = step % shape.keyTiles * MmaShape::kKeys;
  int64_t elements = isKeys ? shape.depth : shape.width;
  const AttentionMemory::Tensor &tensor = isKeys ? memory.key : memory.value;
  Value start = code.binary<arith::MulIOp>(tiles.numberOfKey(tile, code.add(first, before)), elements);
  Value rows = code.at(tensor.pointer, code.builder.getI16Type(), start);
  bool isWhole = getConstantIntValue(count) == shape.keys();
  forEachChunk(MmaShape::kKeys, elements, [&](const Place &place) {
    Value bytes;
    if (!isWhole) {
      Value isThere = code.isBelow(code.resized(code.add(place.row, before), 64), count);
      bytes = code.select(isThere, code.i32(kChunkBytes), code.i32(0));
    }
    Value byte = code.binary<arith::MulIOp>(place.number, kChunkBytes);
    copy(stageOf(step), place, isKeys ? shape.depthPitch() : shape.widthPitch(),
         code.at(rows, code.builder.getI8Type(), byte), bytes);
  });
}

void MmaStaging::commit() { NVVM::CpAsyncCommitGroupOp::create(code.builder, code.loc); }

void MmaStaging::wait() {
  NVVM::CpAsyncWaitGroupOp::create(code.builder, code.loc, shape.stages() - 2);
  code.synchronize();
}

//===- Fragments ----------------------------------------------------------===//

// Eight threads give the rows of one of four matrices, which are two along rows by two along chunks.
SmallVector<Value> MmaStaging::load(int64_t byte, int64_t pitch, Value row, Value chunk, int64_t evenChunk,
                                    bool transposes) {
  OpBuilder &builder = code.builder;
  Value inMatrix = code.binary<arith::RemUIOp>(code.thread, kMatrixRows);
  row = code.add(code.binary<arith::MulIOp>(row, kMatrixRows), inMatrix);
  // An even number of chunks changes other bits than the number of a matrix does.
  chunk = code.binary<arith::XOrIOp>(code.binary<arith::XOrIOp>(chunk, inMatrix), evenChunk);
  Value place =
      code.add(code.binary<arith::MulIOp>(row, pitch), code.binary<arith::MulIOp>(chunk, kChunkBytes));
  Value pointer = code.at(code.shared(byte), builder.getI8Type(), place);
  Type word = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, word));
  auto matrix = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), kMatrixRows, kMatrixRows);
  Value loaded = NVVM::LdMatrixOp::create(builder, code.loc, type, pointer, 4,
                                          transposes ? NVVM::MMALayout::col : NVVM::MMALayout::row, matrix,
                                          NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i) {
    Value bits = LLVM::ExtractValueOp::create(builder, code.loc, loaded, i);
    if (attention.element.isF16())
      bits = LLVM::BitcastOp::create(builder, code.loc, VectorType::get(2, attention.element), bits);
    registers.push_back(bits);
  }
  return registers;
}

// Of four matrices the number along what comes first, and second.
std::pair<Value, Value> MmaStaging::matrixOfThread() {
  Value matrix = code.binary<arith::RemUIOp>(code.binary<arith::DivUIOp>(code.thread, kMatrixRows), 4);
  return {code.binary<arith::RemUIOp>(matrix, 2), code.binary<arith::DivUIOp>(matrix, 2)};
}

SmallVector<Value> MmaStaging::queries(int64_t k) {
  auto [row, chunk] = matrixOfThread();
  Value warp = code.binary<arith::DivUIOp>(code.thread, kWarpThreads);
  row = code.add(code.binary<arith::MulIOp>(warp, MmaShape::kM / kMatrixRows), row);
  return load(0, shape.depthPitch(), row, chunk, k / kChunkElements, false);
}

SmallVector<Value> MmaStaging::keys(int64_t step, int64_t key, int64_t k) {
  auto [chunk, row] = matrixOfThread();
  int64_t pitch = shape.depthPitch();
  return load(stageOf(step) + key * pitch, pitch, row, chunk, k / kChunkElements, false);
}

SmallVector<Value> MmaStaging::values(int64_t step, int64_t key, int64_t column) {
  auto [row, chunk] = matrixOfThread();
  int64_t pitch = shape.widthPitch();
  return load(stageOf(step) + key * pitch, pitch, row, chunk, column / kChunkElements, true);
}
