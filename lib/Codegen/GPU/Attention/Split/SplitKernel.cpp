// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitKernel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// There is one block of queries.
static AttentionTiles::Tile allQueries(AttentionCode &code, const AttentionMemory &memory) {
  AttentionTiles::Tile tile;
  tile.firstQuery = code.i64(0);
  tile.queries = memory.queries;
  return tile;
}

SplitKernel::SplitKernel(FunctionOpInterface function, KernelOp kernel, const AttentionShape &attention,
                         const SplitShape &shape, int64_t rowsOfTile, int64_t columnsOfTile)
    : attention(attention), shape(shape),
      builder(OpBuilder::atBlockBegin(&function.getFunctionBody().front())),
      code(builder, function, attention.accumulator), memory(code, kernel),
      tiles(code, attention, memory, rowsOfTile, columnsOfTile), counts(code, attention, memory, tiles),
      chunks(code, attention, memory, tiles, allQueries(code, memory)),
      scratch(function.getFunctionBody().front().getArguments().back()) {}

void SplitKernel::forEachUnit(Value count, function_ref<void(Value unit)> body) {
  using ::mlir::gpu::Dimension;
  auto wide = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, code.loc, builder.getI64Type(), index);
  };
  Value first = wide(::mlir::gpu::BlockIdOp::create(builder, code.loc, Dimension::x));
  Value step = wide(::mlir::gpu::GridDimOp::create(builder, code.loc, Dimension::x));
  code.loop(first, count, step, body);
}

SplitKernel::Part SplitKernel::partAt(Value number, Value partsOfChunk, int64_t keys) {
  Part part;
  part.chunk = code.binary<arith::DivUIOp>(number, partsOfChunk);
  part.first = code.binary<arith::MulIOp>(code.binary<arith::RemUIOp>(number, partsOfChunk), keys);
  part.firstKey = code.add(chunks.firstKey(part.chunk), part.first);
  Value ofChunk = chunks.count(part.chunk);
  part.count = code.binary<arith::MinUIOp>(code.sub(ofChunk, part.first), code.i64(keys));
  Value counts = both(code.compare(arith::CmpIPredicate::uge, part.chunk, chunks.begin),
                      code.isBelow(part.chunk, chunks.end));
  part.isThere = both(counts, code.isBelow(part.first, ofChunk));
  return part;
}

// Those of a chunk's slabs that have keys come first, and all chunks before have whole ones.
Value SplitKernel::maximumUpTo(Value row, Value chunk) {
  auto slabs = [&](Value chunk) { return code.binary<arith::MulIOp>(chunk, counts.slabsOfChunk); };
  Value last = code.binary<arith::CeilDivUIOp>(chunks.count(chunk), code.i64(SplitShape::kSlab));
  Value first = code.add(slabs(chunks.begin), code.resized(lane(), 64)), end = code.add(slabs(chunk), last);
  Value largest =
      code.loop(first, end, code.i64(kWarpThreads), code.real(-kInfinity), [&](Value slab, ValueRange so) {
        return SmallVector<Value>{
            code.binary<arith::MaximumFOp>(so.front(), load(counts.slabMaximum(row, slab)))};
      })[0];
  for (int64_t distance = 1; distance < kWarpThreads; distance *= 2)
    largest = code.binary<arith::MaximumFOp>(largest, code.ofThread(largest, distance));
  return largest;
}
