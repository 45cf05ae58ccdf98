// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "VectorShuffles.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Result lane i is lane lanes[i] of the two vectors one after the other.
static Value shuffle(OpBuilder &builder, Location loc, Value a, Value b,
                     function_ref<int64_t(int64_t)> lane) {
  SmallVector<int64_t> lanes;
  for (int64_t i = 0, e = cast<VectorType>(a.getType()).getNumElements(); i < e; ++i)
    lanes.push_back(lane(i));
  return vector::ShuffleOp::create(builder, loc, a, b, lanes);
}

// The transposition of 32-bit elements that x86 does fastest. Two rounds of unpack instructions transpose 4 x
// 4 blocks inside lanes of 128 bits; further rounds gather the even and the odd 128-bit lanes of two vectors.
static void transpose32(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &rows) {
  int64_t count = rows.size();
  // Groups of `width` elements from the lower or upper half of each 128-bit lane of a and b, in turn.
  auto unpack = [&](Value a, Value b, int64_t width, bool upper) {
    return shuffle(builder, loc, a, b, [&](int64_t i) {
      int64_t group = i % 4 / width, within = i % width;
      int64_t source = i / 4 * 4 + (upper ? 2 : 0) + group / 2 * width + within;
      return source + (group % 2 ? count : 0);
    });
  };
  auto everySecond = [&](Value a, Value b, int64_t first) {
    return shuffle(builder, loc, a, b, [&](int64_t i) { return (2 * (i / 4) + first) * 4 + i % 4; });
  };
  for (int64_t i = 0; i < count; i += 4) {
    Value low01 = unpack(rows[i], rows[i + 1], 1, false), high01 = unpack(rows[i], rows[i + 1], 1, true);
    Value low23 = unpack(rows[i + 2], rows[i + 3], 1, false),
          high23 = unpack(rows[i + 2], rows[i + 3], 1, true);
    rows[i] = unpack(low01, low23, 2, false);
    rows[i + 1] = unpack(low01, low23, 2, true);
    rows[i + 2] = unpack(high01, high23, 2, false);
    rows[i + 3] = unpack(high01, high23, 2, true);
  }
  for (int64_t j = 0; j < 4; ++j) {
    SmallVector<Value> blocks;
    for (int64_t i = j; i < count; i += 4)
      blocks.push_back(rows[i]);
    for (int64_t rounds = llvm::Log2_64(blocks.size()); rounds > 0; --rounds) {
      SmallVector<Value> even, odd;
      for (size_t i = 0; i < blocks.size(); i += 2) {
        even.push_back(everySecond(blocks[i], blocks[i + 1], 0));
        odd.push_back(everySecond(blocks[i], blocks[i + 1], 1));
      }
      llvm::append_range(even, odd);
      blocks = std::move(even);
    }
    for (auto [lane, block] : llvm::enumerate(blocks))
      rows[4 * lane + j] = block;
  }
}

// As many vectors as they have lanes; vector i becomes lane i of all. Each round exchanges blocks of lanes
// between vectors whose numbers differ in one bit.
void cpu::transposeInRegisters(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &rows) {
  int64_t count = rows.size();
  if (count >= 4 && getElementTypeOrSelf(rows.front()).getIntOrFloatBitWidth() == 32)
    return transpose32(builder, loc, rows);
  for (int64_t distance = count / 2; distance >= 1; distance /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < count; ++lane) {
      bool second = lane & distance;
      // Lane numbers of the pair's second vector start at `count`.
      low.push_back(second ? count + lane - distance : lane);
      high.push_back(second ? count + lane : lane + distance);
    }
    for (int64_t i = 0; i < count; ++i) {
      if (i & distance)
        continue;
      Value a = rows[i], b = rows[i + distance];
      rows[i] = vector::ShuffleOp::create(builder, loc, a, b, low);
      rows[i + distance] = vector::ShuffleOp::create(builder, loc, a, b, high);
    }
  }
}
