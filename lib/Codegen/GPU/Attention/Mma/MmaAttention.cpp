// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "MmaAttention.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using numerics::Elementary;

static constexpr size_t kMaskedFragments = 2;

MmaAttention::MmaAttention(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                           const MmaShape &shape)
    : attention(attention), shape(shape),
      builder(OpBuilder::atBlockBegin(&function.getFunctionBody().front())),
      code(builder, function, attention.accumulator), memory(code, kernel),
      tiles(code, attention, memory, shape.rows(), shape.width), function(code, attention, memory),
      staging(code, attention, shape, memory, tiles), rows(code), mma(code, attention.element) {}

//===- Values of the loop -------------------------------------------------===//

SmallVector<Value> MmaAttention::Sums::all() const {
  SmallVector<Value> all = {maximum[0], maximum[1], weight[0], weight[1]};
  llvm::append_range(all, flatten(values));
  return all;
}

MmaAttention::Sums MmaAttention::sumsFrom(ValueRange all) {
  return {{all[0], all[1]}, {all[2], all[3]}, fragmentsFrom(all.drop_front(4))};
}

//===- Tiles and stages ---------------------------------------------------===//

void MmaAttention::emit() {
  tiles.forEach([&](const Tile &tile) { emitTile(tile); });
}

void MmaAttention::emitTile(const Tile &tile) {
  ChunkRange chunks(code, attention, memory, tiles, tile);
  code.synchronize();
  startCopies(tile, chunks);
  Value none = code.real(-kInfinity), zero = code.real(0);
  Sums start{{none, none}, {zero, zero}, mma.zeros(shape.width)};
  SmallVector<Value> sums =
      code.loop(chunks.begin, chunks.end, code.i64(1), start.all(), [&](Value number, ValueRange before) {
        return addChunk(tile, chunks, number, sumsFrom(before)).all();
      });
  storeTile(tiles.again(tile), sumsFrom(sums));
}

void MmaAttention::startCopies(const Tile &tile, ChunkRange &chunks) {
  Value hasChunk = code.isBelow(chunks.begin, chunks.end);
  for (int64_t step = 0; step + 1 < shape.stages(); ++step) {
    code.emitIf(hasChunk, [&] {
      if (step == 0)
        staging.copyQueries(tile);
      staging.copyStep(tile, chunks.firstKey(chunks.begin), chunks.count(chunks.begin), step);
    });
    staging.commit();
  }
}

void MmaAttention::advance(const Tile &tile, ChunkRange &chunks, Value number, int64_t step) {
  staging.wait();
  int64_t ahead = step + shape.stages() - 1;
  if (ahead < shape.steps()) {
    staging.copyStep(tile, chunks.firstKey(number), chunks.count(number), ahead);
  } else {
    Value next = code.add(number, 1);
    code.emitIf(code.isBelow(next, chunks.end), [&] {
      staging.copyStep(tile, chunks.firstKey(next), chunks.count(next), ahead - shape.steps());
    });
  }
  staging.commit();
}

SmallVector<Fragment> MmaAttention::ifHas(const Chunk &chunk, int64_t key, ArrayRef<Fragment> otherwise,
                                          function_ref<SmallVector<Fragment>()> then) {
  if (key == 0)
    return then();
  Value has = code.isBelow(code.i64(key), chunk.count);
  return fragmentsFrom(code.changeIf(has, flatten(otherwise), [&] { return flatten(then()); }));
}

//===- Products -----------------------------------------------------------===//

SmallVector<Fragment> MmaAttention::scoresOfStep(int64_t step) {
  SmallVector<Fragment> sums = mma.zeros(MmaShape::kKeys);
  for (int64_t k = 0; k < shape.depth; k += MmaShape::kK) {
    SmallVector<Value> queries = staging.queries(k);
    for (int64_t key = 0; key < MmaShape::kKeys; key += 2 * MmaShape::kN) {
      SmallVector<Value> keys = staging.keys(step, key, k);
      MutableArrayRef<Fragment> both = MutableArrayRef(sums).slice(key / MmaShape::kN, 2);
      for (auto [number, fragment] : llvm::enumerate(both))
        fragment = mma.multiply(queries, ArrayRef(keys).slice(2 * number, 2), fragment);
    }
  }
  return sums;
}

// A fragment of A with 16 keys has the registers of two fragments of weights.
SmallVector<Fragment> MmaAttention::addValues(int64_t step, ArrayRef<MmaRows::Registers> weights,
                                              ArrayRef<Fragment> sums) {
  SmallVector<Fragment> next(sums);
  for (int64_t key = 0; key < MmaShape::kKeys; key += MmaShape::kK) {
    SmallVector<Value> a;
    for (const MmaRows::Registers &half : weights.slice(key / MmaShape::kN, 2))
      llvm::append_range(a, half);
    for (int64_t column = 0; column < shape.width; column += 2 * MmaShape::kN) {
      SmallVector<Value> values = staging.values(step, key, column);
      MutableArrayRef<Fragment> both = MutableArrayRef(next).slice(column / MmaShape::kN, 2);
      for (auto [half, fragment] : llvm::enumerate(both))
        fragment = mma.multiply(a, ArrayRef(values).slice(2 * half, 2), fragment);
    }
  }
  return next;
}

//===- Chunks -------------------------------------------------------------===//

// Whether a key of the chunk may not count for a row of the tile, or is not there. Null: always.
Value MmaAttention::mayHide(const Tile &tile, const Chunk &chunk) {
  if (attention.mask)
    return {};
  Value isShort = code.isBelow(chunk.count, code.i64(shape.keys())), firstQuery = tile.firstQuery;
  if (attention.headsOfGroup() == 1)
    firstQuery = code.add(firstQuery, code.resized(tile.firstRow, 64));
  Value endKey = code.add(chunk.first, chunk.count), endQuery = code.add(tile.firstQuery, tile.queries);
  return code.binary<arith::OrIOp>(isShort, function.mayHide(firstQuery, endQuery, chunk.first, endKey));
}

// Some fragments at a time: elements of a mask are loaded where their keys are, and not all of them are in
// registers at once.
SmallVector<Fragment> MmaAttention::masked(const Tile &tile, const Chunk &chunk, ArrayRef<Fragment> scores) {
  AttentionTiles::Row ofThread[2];
  ScoreFunction::Range ranges[2];
  for (int64_t row = 0; row < 2; ++row) {
    ofThread[row] = tiles.rowOf(tile, mma.rowOfThread(row));
    ranges[row] = function.rangeOf(ofThread[row], chunk.first, chunk.count);
  }
  Value pair = mma.columnOfThread(), count = code.hiddenCopy(code.resized(chunk.count, 32));
  SmallVector<Fragment> all;
  auto maskSome = [&](ArrayRef<Fragment> some, size_t first) {
    SmallVector<Fragment> next(some);
    for (size_t number = 0; number < next.size(); ++number)
      for (size_t i = 0; i < next[number].size(); ++i) {
        Value key = code.add(pair, static_cast<int64_t>((first + number) * MmaShape::kN + i % 2));
        next[number][i] = function.masked(next[number][i], ofThread[i / 2], ranges[i / 2], chunk.first, key);
      }
    return flatten(next);
  };
  Fragment hidden;
  hidden.fill(code.real(-kInfinity));
  for (size_t first = 0; first < scores.size(); first += kMaskedFragments) {
    ArrayRef<Fragment> some = scores.slice(first, kMaskedFragments);
    Value has =
        attention.mask ? code.isBelow(code.i32(static_cast<int64_t>(first * MmaShape::kN)), count) : Value();
    SmallVector<Value> none = flatten(SmallVector<Fragment>(kMaskedFragments, hidden));
    llvm::append_range(all, fragmentsFrom(code.changeIf(has, none, [&] { return maskSome(some, first); })));
  }
  return all;
}

MmaAttention::Sums MmaAttention::addChunk(const Tile &tile, ChunkRange &chunks, Value number,
                                          const Sums &before) {
  AttentionCode::OwnThread thread(code);
  Chunk chunk{chunks.firstKey(number), chunks.count(number)};
  SmallVector<Fragment> scores;
  for (int64_t step = 0; step < shape.keyTiles; ++step) {
    advance(tile, chunks, number, step);
    llvm::append_range(scores, ifHas(chunk, step * MmaShape::kKeys, mma.zeros(MmaShape::kKeys),
                                     [&] { return scoresOfStep(step); }));
  }
  for (Fragment &fragment : scores)
    for (Value &score : fragment)
      score = function.bounded(score);
  scores = fragmentsFrom(code.changeIf(mayHide(tile, chunk), flatten(scores),
                                       [&] { return flatten(masked(tiles.again(tile), chunk, scores)); }));
  Sums next = before;
  next.maximum = rows.maximum(before.maximum, scores);
  RowPair shift{code.orZero(next.maximum[0]), code.orZero(next.maximum[1])}, factor;
  for (size_t row = 0; row < 2; ++row)
    factor[row] = code.apply(Elementary::Exp, code.binary<arith::SubFOp>(before.maximum[row], shift[row]));
  Value zero = mma.pack(code.real(0), code.real(0));
  MmaRows::Weights weights =
      rows.weigh(scores, shift, code.resized(chunk.count, 32), zero, [&](const Fragment &weight) {
        return MmaRows::Registers{mma.pack(weight[0], weight[1]), mma.pack(weight[2], weight[3])};
      });
  for (size_t row = 0; row < 2; ++row)
    next.weight[row] = code.plus(code.times(before.weight[row], factor[row]), weights.sums[row]);
  AttentionCode::OwnThread threadOfValues(code);
  SmallVector<Fragment> values = mma.zeros(shape.width);
  size_t ofStep = MmaShape::kKeys / MmaShape::kN;
  for (int64_t step = 0; step < shape.keyTiles; ++step) {
    advance(tile, chunks, number, shape.keyTiles + step);
    values = ifHas(chunk, step * MmaShape::kKeys, values, [&] {
      return addValues(shape.keyTiles + step, ArrayRef(weights.rounded).slice(step * ofStep, ofStep), values);
    });
  }
  for (auto [fragment, product] : llvm::zip_equal(next.values, values))
    for (size_t i = 0; i < 4; ++i)
      fragment[i] = code.plus(code.times(fragment[i], factor[i / 2]), product[i]);
  return next;
}

//===- Results ------------------------------------------------------------===//

void MmaAttention::storeTile(const Tile &tile, const Sums &sums) {
  AttentionCode::OwnThread thread(code);
  Value pair = mma.columnOfThread();
  for (size_t row = 0; row < 2; ++row) {
    Value inTile = mma.rowOfThread(static_cast<int64_t>(row));
    code.emitIf(tiles.isThere(tile, inTile), [&] {
      Value number = tiles.rowOf(tile, inTile).number, weight = sums.weight[row];
      if (memory.logSum.pointer)
        code.emitIf(code.compare(arith::CmpIPredicate::eq, pair, code.i32(0)), [&] {
          Value logarithm = code.apply(Elementary::Log, weight);
          memory.store(memory.logSum, number, code.plus(code.orZero(sums.maximum[row]), logarithm));
        });
      if (!memory.result.pointer)
        return;
      // The sums of a row for which no key counts are 0.
      Value divisor = code.select(code.isEqual(weight, 0), code.real(1), weight);
      Value first = code.add(code.binary<arith::MulIOp>(number, shape.width), code.resized(pair, 64));
      for (auto [place, fragment] : llvm::enumerate(sums.values)) {
        Value left = code.binary<arith::DivFOp>(fragment[2 * row], divisor);
        Value both = mma.pack(left, code.binary<arith::DivFOp>(fragment[2 * row + 1], divisor));
        Value address = code.at(memory.result.pointer, builder.getI16Type(),
                                code.add(first, static_cast<int64_t>(place) * MmaShape::kN));
        LLVM::StoreOp::create(builder, code.loc, both, address, /*alignment=*/4);
      }
    });
  }
}
