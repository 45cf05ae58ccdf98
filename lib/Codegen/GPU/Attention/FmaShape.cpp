// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Bytes of a thread's part of a row of scores and of values: what is left of the shared memory that every
// chip has, and of registers.
static constexpr int64_t kRowBytes = 16, kColumnBytes = 32;

FmaShape::FmaShape(const AttentionShape &attention)
    : bytes(attention.accumulator.getIntOrFloatBitWidth() / 8),
      slice(std::min<int64_t>(kSlice, llvm::alignTo(attention.depth, kVector))) {
  auto perThread = [](int64_t count, int64_t most) {
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(count, kSide)), 1, most);
  };
  int64_t rows = attention.rowsOfBlock();
  rowsOfThread = perThread(ShapedType::isDynamic(rows) ? kAttentionQueries : rows, kRowBytes / bytes);
  columnsOfThread = perThread(attention.width, kColumnBytes / bytes);
}

int64_t FmaShape::sharedBytes() const {
  int64_t endOfKeys = stagedKeys() + kSlabKeys * sliceStride() * bytes;
  int64_t endOfValues = stagedValues() + kSlice * columns() * bytes;
  return std::max(endOfKeys, endOfValues);
}

LaunchShape FmaShape::launch() const {
  LaunchShape shape = {MappingLevel::block, /*result=*/0, /*axes=*/3};
  shape.tile = {rows()};
  shape.threadsPerBlock = kThreads;
  shape.dynamicSharedBytes = sharedBytes();
  return shape;
}
