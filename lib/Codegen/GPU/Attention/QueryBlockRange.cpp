// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "QueryBlockRange.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// The same blocks as those for which AttentionBlocks::mayCount holds.
QueryBlockRange::QueryBlockRange(AttentionCode &code, const AttentionShape &shape,
                                 const AttentionMemory &memory, Value firstKey, Value endKey)
    : begin(code.i64(0)) {
  auto blocksOf = [&](Value queries) {
    return code.binary<arith::CeilDivUIOp>(queries, code.i64(kAttentionQueries));
  };
  end = blocksOf(memory.queries);
  // Blocks that end behind a number of queries; the last one may be shorter than others.
  auto beginBehind = [&](Value query) {
    Value block = code.binary<arith::DivUIOp>(query, kAttentionQueries);
    begin = code.select(code.isBelow(query, memory.queries), block, end);
  };
  Value reach =
      shape.window ? code.i64(std::min<int64_t>(*shape.window - 1, AttentionTiles::kFarthest)) : Value();
  if (shape.causal)
    beginBehind(firstKey);
  else if (shape.window) {
    Value nearby = code.compare(arith::CmpIPredicate::ult, firstKey, reach);
    beginBehind(code.select(nearby, code.i64(0), code.sub(firstKey, reach)));
  }
  if (shape.window)
    end = code.binary<arith::MinUIOp>(end, blocksOf(code.add(endKey, reach)));
}
