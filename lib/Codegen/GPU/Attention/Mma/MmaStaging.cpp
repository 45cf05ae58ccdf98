// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaStaging.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

MmaStaging::MmaStaging(AttentionCode &code, const AttentionShape &attention, const MmaShape &shape,
                       AttentionMemory &memory, AttentionTiles &tiles)
    : code(code), shape(shape), memory(memory), tiles(tiles), rows(code, attention.element, shape.threads()) {
}

//===- Copies -------------------------------------------------------------===//

void MmaStaging::copyQueries(const Tile &tile) {
  rows.forEachChunk(shape.rows(), shape.depth, [&](const SwizzledRows::Place &place) {
    Value first = code.binary<arith::MulIOp>(tiles.rowOf(tile, place.row).number, shape.depth);
    Value row = code.at(memory.query.pointer, code.builder.getI16Type(), first);
    Value inRow = code.binary<arith::MulIOp>(place.chunk, kChunkBytes);
    rows.copy(code.shared(0), shape.depthPitch(), place, code.at(row, code.builder.getI8Type(), inRow),
              Value());
  });
}

// Rows of keys follow each other in memory, too.
void MmaStaging::copyStep(const Tile &tile, Value first, Value count, int64_t step) {
  bool isKeys = step < shape.keyTiles;
  int64_t before = step % shape.keyTiles * MmaShape::kKeys;
  int64_t elements = isKeys ? shape.depth : shape.width;
  const AttentionMemory::Tensor &tensor = isKeys ? memory.key : memory.value;
  Value start = code.binary<arith::MulIOp>(tiles.numberOfKey(tile, code.add(first, before)), elements);
  Value source = code.at(tensor.pointer, code.builder.getI16Type(), start);
  bool isWhole = getConstantIntValue(count) == shape.keys();
  rows.forEachChunk(MmaShape::kKeys, elements, [&](const SwizzledRows::Place &place) {
    Value bytes;
    if (!isWhole) {
      Value isThere = code.isBelow(code.resized(code.add(place.row, before), 64), count);
      bytes = code.select(isThere, code.i32(kChunkBytes), code.i32(0));
    }
    Value byte = code.binary<arith::MulIOp>(place.number, kChunkBytes);
    rows.copy(stageOf(step, 0), isKeys ? shape.depthPitch() : shape.widthPitch(), place,
              code.at(source, code.builder.getI8Type(), byte), bytes);
  });
}

void MmaStaging::commit() { NVVM::CpAsyncCommitGroupOp::create(code.builder, code.loc); }

void MmaStaging::wait() {
  NVVM::CpAsyncWaitGroupOp::create(code.builder, code.loc, shape.stages() - 2);
  code.synchronize();
}

//===- Fragments ----------------------------------------------------------===//

SmallVector<Value> MmaStaging::queries(int64_t k) {
  return rows.loadA(code.shared(0), shape.depthPitch(), k);
}

SmallVector<Value> MmaStaging::keys(int64_t step, int64_t key, int64_t k) {
  int64_t pitch = shape.depthPitch();
  return rows.loadB(stageOf(step, key * pitch), pitch, k);
}

SmallVector<Value> MmaStaging::values(int64_t step, int64_t key, int64_t column) {
  int64_t pitch = shape.widthPitch();
  return rows.loadTransposedB(stageOf(step, key * pitch), pitch, column);
}
