// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaProducts.h"
#include "adjoint/Numerics/Order.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::canonicalBlock;

FmaProducts::FmaProducts(AttentionCode &code, const AttentionShape &shape, const FmaShape &layout,
                         AttentionMemory &memory, AttentionTiles &tiles)
    : code(code), shape(shape), layout(layout), memory(memory), tiles(tiles), function(code, shape, memory) {
  threadRow = code.binary<arith::DivUIOp>(code.thread, FmaShape::kSide);
  threadColumn = code.binary<arith::RemUIOp>(code.thread, FmaShape::kSide);
  int64_t blocks = llvm::divideCeil(shape.depth, canonicalBlock);
  if (blocks > 1)
    depthBlocks.emplace(code, layout.rowsOfThread * layout.keysOfThread(), 1 + llvm::Log2_64_Ceil(blocks));
}

//===- Rows ---------------------------------------------------------------===//

// Tables of shared memory: the numbers of Row.
static constexpr int64_t kNumbers = 0, kQueries = 1, kMasks = 2;

Value FmaProducts::rowOf(int64_t number) {
  return code.add(code.binary<arith::MulIOp>(threadRow, layout.rowsOfThread), number);
}

Value FmaProducts::tableEntry(int64_t table, Value row) {
  return code.load(code.shared(layout.rowTable(table)), code.builder.getI64Type(), row);
}

AttentionTiles::Row FmaProducts::rowAt(int64_t number) {
  Value row = rowOf(number);
  return {Value(), tableEntry(kQueries, row), memory.mask.pointer ? tableEntry(kMasks, row) : Value()};
}

void FmaProducts::writeRows(const Tile &tile) {
  code.forEach(layout.rows(), FmaShape::kThreads, [&](Value number) {
    AttentionTiles::Row row = tiles.rowOf(tile, number);
    code.store(code.shared(layout.rowTable(kNumbers)), number, row.number);
    code.store(code.shared(layout.rowTable(kQueries)), number, row.query);
    if (row.mask)
      code.store(code.shared(layout.rowTable(kMasks)), number, row.mask);
  });
}

//===- Scores -------------------------------------------------------------===//

// -0 times +0 is -0, which changes no sum: elements behind the end of rows are -0, those of keys +0.
static Value orZero(AttentionCode &code, Value isThere, Value x, double zero) {
  return code.select(isThere, x, code.real(zero));
}

void FmaProducts::stageRows(Value firstDepth) {
  code.forEach(layout.rows() * layout.slice, FmaShape::kThreads, [&](Value number) {
    Value row = code.binary<arith::DivUIOp>(number, layout.slice);
    Value column = code.binary<arith::RemUIOp>(number, layout.slice);
    Value element = code.add(firstDepth, column), isThere = code.isBelow(element, code.i32(shape.depth));
    Value inside = code.resized(code.select(isThere, element, code.i32(0)), 64);
    Value first = code.binary<arith::MulIOp>(tableEntry(kNumbers, row), shape.depth);
    Value loaded = memory.loadWide(memory.query, code.add(first, inside));
    Value place = code.add(code.binary<arith::MulIOp>(row, layout.sliceStride()), column);
    code.store(code.shared(layout.stagedRows()), place, orZero(code, isThere, loaded, -0.0));
  });
}

// Keys behind the last one are the last one again.
void FmaProducts::stageKeys(const Tile &tile, Value first, Value count, Value slab, Value firstDepth) {
  Value last = code.sub(count, code.i32(1));
  code.forEach(FmaShape::kSlabKeys * layout.slice, FmaShape::kThreads, [&](Value number) {
    Value key = code.binary<arith::DivUIOp>(number, layout.slice);
    Value column = code.binary<arith::RemUIOp>(number, layout.slice);
    Value element = code.add(firstDepth, column), isThere = code.isBelow(element, code.i32(shape.depth));
    Value inside = code.resized(code.select(isThere, element, code.i32(0)), 64);
    Value inChunk = code.resized(code.binary<arith::MinUIOp>(code.add(slab, key), last), 64);
    Value begin = code.binary<arith::MulIOp>(tiles.numberOfKey(tile, code.add(first, inChunk)), shape.depth);
    Value loaded = memory.loadWide(memory.key, code.add(begin, inside));
    Value place = code.add(code.binary<arith::MulIOp>(key, layout.sliceStride()), column);
    code.store(code.shared(layout.stagedKeys()), place, orZero(code, isThere, loaded, 0.0));
  });
}

// Steps of the depth that are staged: each thread loads vectors of its rows and keys.
SmallVector<Value> FmaProducts::addSlice(ValueRange sums) {
  return code.loop(code.i32(0), code.i32(layout.slice), code.i32(FmaShape::kVector), sums,
                   [&](Value step, ValueRange before) {
                     auto load = [&](int64_t part, Value row) {
                       Value place = code.add(code.binary<arith::MulIOp>(row, layout.sliceStride()), step);
                       return code.loadVector(code.shared(part), place, FmaShape::kVector);
                     };
                     SmallVector<SmallVector<Value>> rows, keys;
                     for (int64_t i = 0; i < layout.rowsOfThread; ++i)
                       rows.push_back(load(layout.stagedRows(), rowOf(i)));
                     for (int64_t j = 0; j < layout.keysOfThread(); ++j)
                       keys.push_back(load(layout.stagedKeys(), code.add(threadColumn, j * FmaShape::kSide)));
                     SmallVector<Value> next(before);
                     for (int64_t d = 0; d < FmaShape::kVector; ++d)
                       for (auto [i, row] : llvm::enumerate(rows))
                         for (auto [j, key] : llvm::enumerate(keys)) {
                           Value &sum = next[i * keys.size() + j];
                           sum = code.fma(row[d], key[d], sum);
                         }
                     return next;
                   });
}

SmallVector<Value> FmaProducts::chain(const Tile &tile, Value first, Value count, Value slab, int64_t lower,
                                      int64_t upper) {
  SmallVector<Value> zeros(layout.rowsOfThread * layout.keysOfThread(), code.real(0));
  return code.loop(code.i32(lower), code.i32(upper), code.i32(layout.slice), zeros,
                   [&](Value depth, ValueRange sums) {
                     code.synchronize();
                     stageRows(depth);
                     stageKeys(tile, first, count, slab, depth);
                     code.synchronize();
                     return addSlice(sums);
                   });
}

SmallVector<Value> FmaProducts::products(const Tile &tile, Value first, Value count, Value slab) {
  if (!depthBlocks)
    return chain(tile, first, count, slab, 0, shape.depth);
  PairwiseStack::State state = depthBlocks->empty();
  for (int64_t lower = 0; lower < shape.depth; lower += canonicalBlock)
    state = depthBlocks->push(
        state, chain(tile, first, count, slab, lower, std::min(lower + canonicalBlock, shape.depth)));
  return depthBlocks->total(state);
}

void FmaProducts::writeScores(const Tile &tile, Value first, Value count) {
  code.loop(code.i32(0), count, code.i32(FmaShape::kSlabKeys), [&](Value slab) {
    SmallVector<Value> sums = products(tile, first, count, slab);
    for (int64_t i = 0; i < layout.rowsOfThread; ++i) {
      AttentionTiles::Row row = rowAt(i);
      ScoreFunction::Range range = function.rangeOf(row, first, count);
      for (int64_t j = 0; j < layout.keysOfThread(); ++j) {
        Value key = code.add(slab, code.add(threadColumn, j * FmaShape::kSide));
        Value score = function.bounded(sums[i * layout.keysOfThread() + j]);
        Value place = code.add(code.binary<arith::MulIOp>(rowOf(i), layout.scoreStride()), key);
        code.store(code.shared(layout.scores()), place, function.masked(score, row, range, first, key));
      }
    }
  });
}

//===- Values -------------------------------------------------------------===//

// Columns of a thread are vectors; between two of them are the vectors of all other threads.
Value FmaProducts::columnOfSum(const Tile &tile, int64_t number) {
  int64_t vector = layout.columnVector(), inThread = number % layout.columnsOfThread;
  int64_t first = inThread / vector * vector * FmaShape::kSide + inThread % vector;
  Value column = code.add(code.binary<arith::MulIOp>(threadColumn, vector), first);
  return tile.firstColumn ? code.add(tile.firstColumn, code.resized(column, 64)) : column;
}

void FmaProducts::stageValues(const Tile &tile, Value first, Value count, Value slab) {
  code.forEach(FmaShape::kSlice * layout.columns(), FmaShape::kThreads, [&](Value number) {
    Value inChunk = code.add(slab, code.binary<arith::DivUIOp>(number, layout.columns()));
    Value column = code.binary<arith::RemUIOp>(number, layout.columns());
    column = code.add(tile.firstColumn, code.resized(column, 64));
    Value isThere = code.binary<arith::AndIOp>(code.isBelow(inChunk, count), hasColumn(column));
    Value key = code.add(first, code.resized(inChunk, 64));
    Value element = code.add(code.binary<arith::MulIOp>(tiles.numberOfKey(tile, key), shape.width), column);
    Value loaded = memory.loadWide(memory.value, code.select(isThere, element, code.i64(0)));
    code.store(code.shared(layout.stagedValues()), number, orZero(code, isThere, loaded, 0.0));
  });
}

SmallVector<Value> FmaProducts::addValueSlice(Value slab, ValueRange sums) {
  int64_t vector = layout.columnVector(), columns = layout.columnsOfThread;
  return code.loop(
      code.i32(0), code.i32(FmaShape::kSlice), code.i32(FmaShape::kVector), sums,
      [&](Value step, ValueRange before) {
        SmallVector<SmallVector<Value>> weights;
        for (int64_t i = 0; i < layout.rowsOfThread; ++i) {
          Value place = code.binary<arith::MulIOp>(rowOf(i), layout.scoreStride());
          place = code.add(place, code.add(slab, step));
          weights.push_back(code.loadVector(code.shared(layout.scores()), place, FmaShape::kVector));
        }
        SmallVector<Value> next(before);
        for (int64_t k = 0; k < FmaShape::kVector; ++k) {
          Value row = code.binary<arith::MulIOp>(code.add(step, k), layout.columns());
          SmallVector<Value> values;
          for (int64_t j = 0; j < columns; j += vector)
            llvm::append_range(values, code.loadVector(code.shared(layout.stagedValues()),
                                                       code.add(row, columnOfSum({}, j)), vector));
          for (auto [i, weight] : llvm::enumerate(weights))
            for (auto [j, value] : llvm::enumerate(values)) {
              Value &sum = next[i * values.size() + j];
              sum = code.fma(weight[k], value, sum);
            }
        }
        return next;
      });
}

SmallVector<Value> FmaProducts::addValues(const Tile &tile, Value first, Value count, ValueRange sums) {
  return code.loop(code.i32(0), count, code.i32(FmaShape::kSlice), sums, [&](Value slab, ValueRange before) {
    code.synchronize();
    stageValues(tile, first, count, slab);
    code.synchronize();
    return addValueSlice(slab, before);
  });
}
