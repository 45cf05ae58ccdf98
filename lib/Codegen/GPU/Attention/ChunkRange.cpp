// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ChunkRange.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

Value ChunkRange::count(Value chunk) {
  std::optional<int64_t> all = getConstantIntValue(keys), whole = getConstantIntValue(length);
  if (all && whole && *all % *whole == 0)
    return length;
  return code.binary<arith::MinUIOp>(code.sub(keys, firstKey(chunk)), length);
}

// The same chunks as those for which AttentionTiles::mayCount holds.
ChunkRange::ChunkRange(AttentionCode &code, const AttentionShape &shape, const AttentionMemory &memory,
                       AttentionTiles &tiles, const AttentionTiles::Tile &tile)
    : begin(code.i64(0)), code(code), keys(memory.keys), length(tiles.keysOfChunk()) {
  end = code.binary<arith::CeilDivUIOp>(keys, length);
  auto endBefore = [&](Value key) {
    end = code.binary<arith::MinUIOp>(end, code.binary<arith::CeilDivUIOp>(key, length));
  };
  Value endQuery = code.add(tile.firstQuery, tile.queries);
  if (shape.causal)
    endBefore(endQuery);
  if (!shape.window)
    return;
  Value reach = code.i64(std::min<int64_t>(*shape.window - 1, AttentionTiles::kFarthest));
  if (!shape.causal)
    endBefore(code.add(endQuery, reach));
  // Keys before `hidden + 1` are too far away.
  Value hidden = code.sub(tile.firstQuery, code.binary<arith::MinUIOp>(tile.firstQuery, reach));
  Value allHidden = code.compare(arith::CmpIPredicate::ule, keys, hidden);
  Value nearby = code.compare(arith::CmpIPredicate::ule, tile.firstQuery, reach);
  // All keys of a chunk are hidden if it ends at `hidden` at the latest.
  begin = code.binary<arith::DivUIOp>(hidden, length);
  begin = code.select(nearby, code.i64(0), code.select(allHidden, end, begin));
}
