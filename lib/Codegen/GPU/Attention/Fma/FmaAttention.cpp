// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FmaAttention.h"
#include "adjoint/Numerics/Order.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::canonicalBlock;
using numerics::canonicalChunk;
using numerics::Elementary;

static_assert(canonicalBlock % FmaShape::kKeys == 0 && canonicalChunk % FmaShape::kKeys == 0,
              "parts of a chunk end where nodes of the orders do");
// Of chunks whose length is not known: no memory has more keys.
static constexpr int64_t kMostKeys = kMaxMemoryBytes;

SmallVector<Value> FmaAttention::Sums::all() const {
  SmallVector<Value> all = {maximum, weight};
  llvm::append_range(all, values);
  return all;
}

FmaAttention::FmaAttention(FunctionOpInterface function, KernelOp kernel, const AttentionShape &shape,
                           const FmaShape &layout)
    : shape(shape), layout(layout), builder(OpBuilder::atBlockBegin(&function.getFunctionBody().front())),
      code(builder, function, shape.accumulator), memory(code, kernel),
      tiles(code, shape, memory, layout.rows(), layout.columns()),
      products(code, shape, layout, memory, tiles), rows(code, shape, layout) {
  auto levels = [&](int64_t part) {
    return 1 + llvm::Log2_64_Ceil(llvm::divideCeil(shape.mostKeysOfChunk().value_or(kMostKeys), part));
  };
  if (!shape.hasChunksUpTo(canonicalChunk))
    weightChunks.emplace(code, 1, levels(canonicalChunk));
  if (!shape.hasChunksUpTo(canonicalBlock))
    valueBlocks.emplace(code, products.sumCount(), levels(canonicalBlock));
}

void FmaAttention::emit() {
  tiles.forEach([&](const Tile &tile) { emitTile(tile); });
}

void FmaAttention::emitTile(const Tile &tile) {
  code.synchronize();
  products.writeRows(tile);
  code.synchronize();
  SmallVector<Value> start(2 + products.sumCount(), code.real(0));
  start.front() = code.real(-kInfinity);
  ChunkRange chunks(code, shape, memory, tiles, tile);
  SmallVector<Value> sums =
      code.loop(chunks.begin, chunks.end, code.i64(1), start, [&](Value number, ValueRange before) {
        return addChunk(tile, {chunks.firstKey(number), chunks.count(number)}, Sums(before)).all();
      });
  storeTile(tile, Sums(sums));
}

//===- Chunks -------------------------------------------------------------===//

// 0 for -inf, the maximum of no scores: inf - inf would be NaN.
SmallVector<Value> FmaAttention::overParts(const Chunk &chunk, ValueRange values, Part part) {
  if (shape.hasChunksUpTo(FmaShape::kKeys))
    return part(code.i64(0), code.resized(chunk.count, 32), values);
  Value keys = code.i64(FmaShape::kKeys);
  return code.loop(code.i64(0), chunk.count, keys, values, [&](Value begin, ValueRange before) {
    Value count = code.binary<arith::MinUIOp>(code.sub(chunk.count, begin), keys);
    return part(begin, code.resized(count, 32), before);
  });
}

FmaAttention::Sums FmaAttention::addChunk(const Tile &tile, const Chunk &chunk, const Sums &before) {
  Value maximum = overParts(chunk, before.maximum, [&](Value begin, Value count, ValueRange so) {
    products.writeScores(tile, code.add(chunk.first, begin), count);
    code.synchronize();
    return SmallVector<Value>{rows.maximum(so.front(), count)};
  })[0];
  Value shift = code.orZero(maximum);
  Value factor = code.apply(Elementary::Exp, code.binary<arith::SubFOp>(before.maximum, shift));
  code.emitIf(code.compare(arith::CmpIPredicate::eq, rows.inRow, code.i32(0)),
              [&] { code.store(code.shared(layout.factors()), rows.row, factor); });
  ChunkSums sums = sumParts(tile, chunk, shift);
  Sums next(before.all());
  next.maximum = maximum;
  next.weight = code.plus(code.times(before.weight, factor), sums.weight);
  for (auto [number, value] : llvm::enumerate(next.values)) {
    Value ofRow = code.load(code.shared(layout.factors()), code.accumulator,
                            products.rowOfSum(static_cast<int64_t>(number)));
    value = code.plus(code.times(value, ofRow), sums.values[number]);
  }
  return next;
}

// Weights and the sums of a chunk. Scores of several parts are computed again.
FmaAttention::ChunkSums FmaAttention::sumParts(const Tile &tile, const Chunk &chunk, Value shift) {
  bool hasParts = !shape.hasChunksUpTo(FmaShape::kKeys);
  SmallVector<Value> values(products.sumCount(), code.real(0));
  OpenNodes start{rows.zeroLanes(), values, weightChunks ? weightChunks->empty() : PairwiseStack::State(),
                  valueBlocks ? valueBlocks->empty() : PairwiseStack::State()};
  SmallVector<Value> end = overParts(chunk, start.all(), [&](Value begin, Value count, ValueRange before) {
    OpenNodes nodes = start.with(before);
    Value first = code.add(chunk.first, begin);
    if (hasParts) {
      products.writeScores(tile, first, count);
      code.synchronize();
    }
    nodes.lanes = rows.addWeights(shift, count, nodes.lanes);
    code.synchronize();
    nodes.values = products.addValues(tile, first, count, nodes.values);
    Value end = code.add(begin, code.resized(count, 64));
    if (weightChunks)
      weightChunks->pushIf(endsNode(chunk, end, canonicalChunk), nodes.chunks, nodes.lanes,
                           [&](ValueRange lanes) { return SmallVector<Value>{rows.joinLanes(lanes)}; });
    if (valueBlocks)
      valueBlocks->pushIf(endsNode(chunk, end, canonicalBlock), nodes.blocks, nodes.values,
                          [](ValueRange sums) { return SmallVector<Value>(sums); });
    return nodes.all();
  });
  OpenNodes nodes = start.with(end);
  return {weightChunks ? weightChunks->total(nodes.chunks)[0] : rows.joinLanes(nodes.lanes),
          valueBlocks ? valueBlocks->total(nodes.blocks) : nodes.values};
}

SmallVector<Value> FmaAttention::OpenNodes::all() const {
  SmallVector<Value> all(lanes);
  llvm::append_range(all, values);
  for (const PairwiseStack::State &state : {chunks, blocks})
    if (state.parts)
      all.append({state.parts, state.depth});
  return all;
}

FmaAttention::OpenNodes FmaAttention::OpenNodes::with(ValueRange all) const {
  OpenNodes nodes = *this;
  auto take = [&](size_t count) {
    SmallVector<Value> taken(all.take_front(count));
    all = all.drop_front(count);
    return taken;
  };
  nodes.lanes = take(lanes.size());
  nodes.values = take(values.size());
  for (PairwiseStack::State *state : {&nodes.chunks, &nodes.blocks})
    if (state->parts) {
      SmallVector<Value> numbers = take(2);
      *state = {numbers[0], numbers[1]};
    }
  return nodes;
}

Value FmaAttention::endsNode(const Chunk &chunk, Value end, int64_t length) {
  Value isWhole =
      code.compare(arith::CmpIPredicate::eq, code.binary<arith::RemUIOp>(end, length), code.i64(0));
  return code.binary<arith::OrIOp>(isWhole, code.compare(arith::CmpIPredicate::eq, end, chunk.count));
}

//===- Results ------------------------------------------------------------===//

void FmaAttention::storeTile(const Tile &tile, const Sums &sums) {
  Value isFirst = code.compare(arith::CmpIPredicate::eq, rows.inRow, code.i32(0));
  code.synchronize(); // other threads may still read factors
  code.emitIf(isFirst, [&] { code.store(code.shared(layout.factors()), rows.row, sums.weight); });
  if (memory.logSum.pointer) {
    Value isOwn = code.binary<arith::AndIOp>(isFirst, tiles.isThere(tile, rows.row));
    Value isFirstPanel = code.compare(arith::CmpIPredicate::eq, tile.firstColumn, code.i64(0));
    code.emitIf(code.binary<arith::AndIOp>(isOwn, isFirstPanel), [&] {
      Value logarithm = code.apply(Elementary::Log, sums.weight);
      memory.store(memory.logSum, tiles.rowOf(tile, rows.row).number,
                   code.plus(code.orZero(sums.maximum), logarithm));
    });
  }
  if (!memory.result.pointer)
    return;
  code.synchronize();
  for (int64_t place = 0; place < products.sumCount(); ++place) {
    Value row = products.rowOfSum(place), column = products.columnOfSum(tile, place);
    Value isOwn = code.binary<arith::AndIOp>(tiles.isThere(tile, row), products.hasColumn(column));
    code.emitIf(isOwn, [&] {
      Value weight = code.load(code.shared(layout.factors()), code.accumulator, row);
      // The sums of a row for which no key counts are 0.
      Value divisor = code.select(code.isEqual(weight, 0), code.real(1), weight);
      Value first = code.binary<arith::MulIOp>(tiles.rowOf(tile, row).number, shape.width);
      memory.store(memory.result, code.add(first, column),
                   code.binary<arith::DivFOp>(sums.values[place], divisor));
    });
  }
}
