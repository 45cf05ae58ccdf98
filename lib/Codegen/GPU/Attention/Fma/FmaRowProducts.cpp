// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaRowProducts.h"
#include "adjoint/Numerics/Order.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::canonicalBlock;

FmaRowProducts::FmaRowProducts(AttentionCode &code, const FmaGrid &grid, AttentionMemory &memory,
                               int64_t length, int64_t stagedRows, int64_t stagedKeys)
    : code(code), grid(grid), memory(memory), length(length), stagedRows(stagedRows), stagedKeys(stagedKeys) {
  int64_t count = llvm::divideCeil(length, canonicalBlock);
  if (count > 1)
    blocks.emplace(code, grid.rowsOfThread * grid.keysOfThread(), 1 + llvm::Log2_64_Ceil(count));
}

void FmaRowProducts::stage(int64_t byte, const Side &side, int64_t count, Value first, double padding) {
  code.forEach(count * grid.slice, FmaGrid::kThreads, [&](Value number) {
    Value row = code.binary<arith::DivUIOp>(number, grid.slice);
    Value column = code.binary<arith::RemUIOp>(number, grid.slice);
    Value element = code.add(first, column), isThere = code.isBelow(element, code.i32(length));
    Value inside = code.resized(code.select(isThere, element, code.i32(0)), 64);
    Value begin = code.binary<arith::MulIOp>(side.number(row), length);
    Value loaded = memory.loadWide(side.tensor, code.add(begin, inside));
    Value place = code.add(code.binary<arith::MulIOp>(row, grid.sliceStride()), column);
    code.store(code.shared(byte), place, code.select(isThere, loaded, code.real(padding)));
  });
}

// Steps along the rows that are staged: each thread loads vectors of its rows and keys.
SmallVector<Value> FmaRowProducts::addSlice(ValueRange sums) {
  Value threadRow = code.binary<arith::DivUIOp>(code.thread, FmaGrid::kSide);
  Value threadColumn = code.binary<arith::RemUIOp>(code.thread, FmaGrid::kSide);
  return code.loop(
      code.i32(0), code.i32(grid.slice), code.i32(FmaGrid::kVector), sums,
      [&](Value step, ValueRange before) {
        auto load = [&](int64_t byte, Value row) {
          Value place = code.add(code.binary<arith::MulIOp>(row, grid.sliceStride()), step);
          return code.loadVector(code.shared(byte), place, FmaGrid::kVector);
        };
        SmallVector<SmallVector<Value>> rows, keys;
        for (int64_t i = 0; i < grid.rowsOfThread; ++i)
          rows.push_back(
              load(stagedRows, code.add(code.binary<arith::MulIOp>(threadRow, grid.rowsOfThread), i)));
        for (int64_t j = 0; j < grid.keysOfThread(); ++j)
          keys.push_back(load(stagedKeys, code.add(threadColumn, j * FmaGrid::kSide)));
        SmallVector<Value> next(before);
        for (int64_t d = 0; d < FmaGrid::kVector; ++d)
          for (auto [i, row] : llvm::enumerate(rows))
            for (auto [j, key] : llvm::enumerate(keys)) {
              Value &sum = next[i * keys.size() + j];
              sum = code.fma(row[d], key[d], sum);
            }
        return next;
      });
}

// -0 times +0 is -0, which changes no sum: elements behind the end of rows are -0, those of keys +0.
SmallVector<Value> FmaRowProducts::chain(const Side &rows, const Side &keys, int64_t lower, int64_t upper) {
  SmallVector<Value> zeros(grid.rowsOfThread * grid.keysOfThread(), code.real(0));
  return code.loop(code.i32(lower), code.i32(upper), code.i32(grid.slice), zeros,
                   [&](Value first, ValueRange sums) {
                     code.synchronize();
                     stage(stagedRows, rows, grid.rows(), first, -0.0);
                     stage(stagedKeys, keys, FmaGrid::kSlabKeys, first, 0.0);
                     code.synchronize();
                     return addSlice(sums);
                   });
}

SmallVector<Value> FmaRowProducts::multiply(const Side &rows, const Side &keys) {
  if (!blocks)
    return chain(rows, keys, 0, length);
  PairwiseStack::State state = blocks->empty();
  for (int64_t lower = 0; lower < length; lower += canonicalBlock)
    state = blocks->push(state, chain(rows, keys, lower, std::min(lower + canonicalBlock, length)));
  return blocks->total(state);
}
