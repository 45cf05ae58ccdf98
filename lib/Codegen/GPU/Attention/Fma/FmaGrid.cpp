// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaGrid.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Bytes of a thread's part of a row of scores and of columns: what is left of the shared memory that every
// chip has, and of registers.
static constexpr int64_t kRowBytes = 16, kColumnBytes = 32;

FmaGrid::FmaGrid(const AttentionShape &attention, int64_t columns, int64_t longestRow)
    : bytes(attention.accumulator.getIntOrFloatBitWidth() / 8),
      slice(std::min<int64_t>(kSlice, llvm::alignTo(longestRow, kVector))) {
  auto perThread = [](int64_t count, int64_t most) {
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(count, kSide)), 1, most);
  };
  int64_t rows = attention.rowsOfBlock();
  rowsOfThread = perThread(ShapedType::isDynamic(rows) ? kAttentionQueries : rows, kRowBytes / bytes);
  columnsOfThread = perThread(columns, kColumnBytes / bytes);
}
