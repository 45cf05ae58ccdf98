// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AttentionTiles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

AttentionTiles::AttentionTiles(AttentionCode &code, const AttentionShape &shape,
                               const AttentionMemory &memory, int64_t rowsOfTile, int64_t columnsOfTile,
                               std::optional<int64_t> columns)
    : code(code), shape(shape), memory(memory), rowsOfTile(rowsOfTile), columnsOfTile(columnsOfTile),
      panels(llvm::divideCeil(columns.value_or(shape.width), columnsOfTile)) {
  Value most =
      code.binary<arith::MulIOp>(minimum(memory.queries, code.i64(kAttentionQueries)), shape.headsOfGroup());
  tilesOfBlock = code.binary<arith::CeilDivUIOp>(most, code.i64(rowsOfTile));
  blocks = code.binary<arith::CeilDivUIOp>(memory.queries, code.i64(kAttentionQueries));
  Value sequences = code.binary<arith::MulIOp>(memory.batch, shape.groups);
  tilesOfBlocks = code.binary<arith::MulIOp>(code.binary<arith::MulIOp>(sequences, tilesOfBlock), panels);
}

void AttentionTiles::forEach(function_ref<void(const Tile &)> body) {
  code.forEachOfGrid(count(), [&](Value number) {
    Tile tile = tileAt(number);
    code.emitIf(code.isBelow(tile.firstRow, tile.rows), [&] { body(tile); });
  });
}

AttentionTiles::Tile AttentionTiles::tileAt(Value number) {
  auto divide = [&](Value x, Value y) {
    return std::pair(code.binary<arith::DivUIOp>(x, y), code.binary<arith::RemUIOp>(x, y));
  };
  Tile tile;
  tile.number = number;
  auto [fromLast, inBlock] = divide(number, tilesOfBlocks);
  Value block = code.sub(code.sub(blocks, code.i64(1)), fromLast);
  auto [rest, panel] = divide(inBlock, code.i64(panels));
  auto [sequence, inSequence] = divide(rest, tilesOfBlock);
  std::tie(tile.batch, tile.group) = divide(sequence, code.i64(shape.groups));
  tile.firstQuery = code.binary<arith::MulIOp>(block, kAttentionQueries);
  tile.queries = minimum(code.sub(memory.queries, tile.firstQuery), code.i64(kAttentionQueries));
  tile.firstRow = code.resized(code.binary<arith::MulIOp>(inSequence, rowsOfTile), 32);
  tile.rows = code.resized(code.binary<arith::MulIOp>(tile.queries, shape.headsOfGroup()), 32);
  tile.firstColumn = code.binary<arith::MulIOp>(panel, columnsOfTile);
  return tile;
}

AttentionTiles::Row AttentionTiles::rowOf(const Tile &tile, Value row) {
  Value last = code.sub(tile.rows, code.i32(1));
  row = code.resized(minimum(code.add(tile.firstRow, row), last), 64);
  Value head = code.i64(0), query = row;
  if (shape.headsOfGroup() > 1) {
    head = code.binary<arith::DivUIOp>(row, tile.queries);
    query = code.binary<arith::RemUIOp>(row, tile.queries);
  }
  query = code.add(query, tile.firstQuery);
  head = code.add(code.binary<arith::MulIOp>(tile.group, shape.headsOfGroup()), head);
  // The number of an element of a tensor whose sizes of 1 repeat.
  auto among = [&](ArrayRef<Value> sizes, std::optional<ArrayRef<int64_t>> extents) {
    Value number = code.i64(0), indices[] = {tile.batch, head, query};
    for (auto [axis, index] : llvm::enumerate(indices))
      if (!extents || (*extents)[axis] != 1)
        number = code.add(code.binary<arith::MulIOp>(number, sizes[axis]), index);
    return number;
  };
  Row found{among({memory.batch, code.i64(shape.heads), memory.queries}, std::nullopt), query, Value()};
  if (shape.mask)
    found.mask =
        code.binary<arith::MulIOp>(among(memory.mask.sizes, shape.mask.getShape()), memory.mask.sizes[3]);
  return found;
}

Value AttentionTiles::numberOfKey(const Tile &tile, Value key) {
  Value sequence = code.add(code.binary<arith::MulIOp>(tile.batch, shape.groups), tile.group);
  return code.add(code.binary<arith::MulIOp>(sequence, memory.keys), key);
}

Value AttentionTiles::keysOfChunk() {
  if (shape.chunk)
    return code.i64(*shape.chunk);
  Value queries = code.binary<arith::MaxUIOp>(minimum(memory.queries, code.i64(kAttentionQueries)), 1);
  return code.binary<arith::MulIOp>(code.binary<arith::DivUIOp>(code.i64(kAttentionQueries), queries),
                                    kAttentionKeys);
}
