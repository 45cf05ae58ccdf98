// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "KeyTiles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

KeyTiles::KeyTiles(AttentionCode &code, const AttentionShape &shape, const AttentionMemory &memory,
                   AttentionTiles &rows, int64_t keysOfTile, int64_t panels)
    : code(code), shape(shape), memory(memory), keysOfTile(keysOfTile), panels(panels),
      keysOfChunk(rows.keysOfChunk()) {
  Value most = code.binary<arith::MinUIOp>(keysOfChunk, memory.keys);
  tilesOfChunk = code.binary<arith::CeilDivUIOp>(most, code.i64(keysOfTile));
  Value sequences = code.binary<arith::MulIOp>(memory.batch, shape.groups);
  tilesOfChunks = code.binary<arith::MulIOp>(code.binary<arith::MulIOp>(sequences, tilesOfChunk), panels);
}

void KeyTiles::forEach(function_ref<void(const Tile &)> body) {
  Value chunks = code.binary<arith::CeilDivUIOp>(memory.keys, keysOfChunk);
  code.forEachOfGrid(code.binary<arith::MulIOp>(tilesOfChunks, chunks), [&](Value number) {
    Tile tile = tileAt(number);
    code.emitIf(code.isBelow(tile.firstKey, tile.chunkEnd), [&] { body(tile); });
  });
}

KeyTiles::Tile KeyTiles::tileAt(Value number) {
  auto divide = [&](Value x, Value y) {
    return std::pair(code.binary<arith::DivUIOp>(x, y), code.binary<arith::RemUIOp>(x, y));
  };
  Tile tile;
  auto [chunk, inChunk] = divide(number, tilesOfChunks);
  auto [rest, panel] = divide(inChunk, code.i64(panels));
  auto [sequence, inSequence] = divide(rest, tilesOfChunk);
  std::tie(tile.batch, tile.group) = divide(sequence, code.i64(shape.groups));
  tile.panel = panel;
  tile.chunkBegin = code.binary<arith::MulIOp>(chunk, keysOfChunk);
  Value count = code.binary<arith::MinUIOp>(code.sub(memory.keys, tile.chunkBegin), keysOfChunk);
  tile.chunkEnd = code.add(tile.chunkBegin, count);
  tile.firstKey = code.add(tile.chunkBegin, code.binary<arith::MulIOp>(inSequence, keysOfTile));
  Value left = code.sub(tile.chunkEnd, tile.firstKey);
  tile.count = code.resized(code.binary<arith::MinUIOp>(left, code.i64(keysOfTile)), 32);
  return tile;
}

AttentionTiles::Tile KeyTiles::rowsOf(const Tile &tile, Value block, Value firstRow) {
  AttentionTiles::Tile rows;
  rows.batch = tile.batch;
  rows.group = tile.group;
  rows.firstQuery = code.binary<arith::MulIOp>(block, kAttentionQueries);
  Value left = code.sub(memory.queries, rows.firstQuery);
  rows.queries = code.binary<arith::MinUIOp>(left, code.i64(kAttentionQueries));
  rows.firstRow = firstRow;
  rows.rows = code.resized(code.binary<arith::MulIOp>(rows.queries, shape.headsOfGroup()), 32);
  return rows;
}
