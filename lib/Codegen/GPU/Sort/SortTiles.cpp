// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel that sorts tiles of lines in shared memory.

#include "SortEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

/// Places of a tile are divided among lines, each of which has 2^levels places.
struct SortEmitter::Tile {
  Value levels;          ///< i32
  Value first, base;     ///< in its line, and in all lines: the first element (i64)
  Value lines, elements; ///< that the tile has, and of one of them (i32)
};

/// All numbers are i32.
struct SortEmitter::Place {
  Value column;  ///< in its line of the tile
  Value number;  ///< of the element, from the first one of the tile
  Value isThere; ///< whether there is an element
};

// The least number that holds a line, or a tile.
Value SortEmitter::levelsOfTile() {
  if (int64_t places = shape.placesOfLine())
    return items.i32(llvm::Log2_64(places));
  Value least = items.binary<arith::MaxUIOp>(length, kRegisterRun);
  Value zeros = LLVM::CountLeadingZerosOp::create(builder, loc, length.getType(),
                                                  items.sub(least, items.i64(1)), /*is_zero_poison=*/false);
  Value levels = items.sub(items.i64(64), zeros);
  return items.resized(items.binary<arith::MinUIOp>(levels, llvm::Log2_64(shape.tile)), 32);
}

Value SortEmitter::tileCount() {
  Value places = items.i64(shape.tile), levels = items.resized(levelsOfTile(), 64);
  Value linesOfTile = items.binary<arith::ShRUIOp>(places, levels);
  return items.binary<arith::MulIOp>(items.binary<arith::CeilDivUIOp>(lines, linesOfTile),
                                     items.binary<arith::CeilDivUIOp>(length, places));
}

SortEmitter::Tile SortEmitter::tileAt(Value number) {
  Tile tile;
  tile.levels = levelsOfTile();
  Value places = items.i64(shape.tile);
  Value linesOfTile = items.binary<arith::ShRUIOp>(places, items.resized(tile.levels, 64));
  Value tilesOfLine = items.binary<arith::MaxUIOp>(items.binary<arith::CeilDivUIOp>(length, places), 1);
  Value firstLine =
      items.binary<arith::MulIOp>(items.binary<arith::DivUIOp>(number, tilesOfLine), linesOfTile);
  tile.first = items.binary<arith::MulIOp>(items.binary<arith::RemUIOp>(number, tilesOfLine), places);
  tile.base = items.add(items.binary<arith::MulIOp>(firstLine, length), tile.first);
  Value left = items.sub(lines, firstLine), leftOfLine = items.sub(length, tile.first);
  tile.lines = items.resized(items.binary<arith::MinUIOp>(left, linesOfTile), 32);
  tile.elements = items.resized(items.binary<arith::MinUIOp>(leftOfLine, places), 32);
  return tile;
}

// A tile of several lines has all elements of each.
SortEmitter::Place SortEmitter::placeIn(const Tile &tile, Value place) {
  if (!shape.mayShareTile())
    return {place, place, items.isBelow(place, tile.elements)};
  Value row = items.binary<arith::ShRUIOp>(place, tile.levels);
  Value column = items.sub(place, items.binary<arith::ShLIOp>(row, tile.levels));
  Value isThere =
      items.binary<arith::AndIOp>(items.isBelow(row, tile.lines), items.isBelow(column, tile.elements));
  return {column, items.add(items.binary<arith::MulIOp>(row, tile.elements), column), isThere};
}

// All elements are loaded before the first one is stored. Places without an element have items that come
// last.
void SortEmitter::loadTile(const Tile &tile, SharedItems &shared) {
  Type memory = items.memoryType();
  Value first = items.at(keys, memory, tile.base), firstPosition = items.resized(tile.first, 32);
  SmallVector<std::pair<Value, SortItem>> loaded;
  forEachPlace(shape.tile, [&](Value number) {
    Place place = placeIn(tile, number);
    Value element = items.select(place.isThere, place.number, items.i32(0));
    Value position = items.form.hasPosition ? items.add(firstPosition, place.column) : number;
    SortItem item = items.make(items.load(first, memory, element), position);
    loaded.push_back({number, items.select(place.isThere, item, items.last())});
  });
  for (auto &[number, item] : loaded)
    shared.store(number, item);
}

static SmallVector<Value> valuesOf(ArrayRef<SortItem> list) {
  SmallVector<Value> values;
  for (const SortItem &item : list)
    values.push_back(item.key);
  for (const SortItem &item : list)
    if (item.position)
      values.push_back(item.position);
  return values;
}

static SmallVector<SortItem> itemsFrom(ValueRange values) {
  SmallVector<SortItem> list;
  for (size_t i = 0; i < kItemsOfThread; ++i)
    list.push_back({values[i], values.size() > kItemsOfThread ? values[kItemsOfThread + i] : Value()});
  return list;
}

// Merges sorted runs of items in registers until a run has 2^levels.
SmallVector<SortItem> SortEmitter::mergeOwn(SharedItems &shared, SmallVector<SortItem> own, Value levels) {
  Value one = items.i32(1);
  auto loop = scf::ForOp::create(builder, loc, items.i32(llvm::Log2_64(shape.registerRun())), levels, one,
                                 valuesOf(own));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  shared.storeOwn(itemsFrom(loop.getRegionIterArgs()));
  synchronize();
  Value run = items.binary<arith::ShLIOp>(one, loop.getInductionVar());
  Value first = items.binary<arith::MulIOp>(thread, kItemsOfThread);
  Value before = items.binary<arith::AndIOp>(first, items.sub(items.add(run, run), one));
  Value x = items.sub(first, before), y = items.add(x, run);
  SmallVector<SortItem> merged = shared.merge({x, y}, {y, items.add(y, run)}, before);
  synchronize();
  scf::YieldOp::create(builder, loc, valuesOf(merged));
  return itemsFrom(loop.getResults());
}

// With its position in the line.
SortItem SortEmitter::itemInRun(const Tile &tile, const SortItem &item) {
  if (items.form.hasPosition)
    return item;
  Value column = placeIn(tile, items.placeOf(item)).column;
  return items.inRun(item, items.add(items.resized(tile.first, 32), column));
}

void SortEmitter::storeTile(const Tile &tile, SharedItems &shared) {
  auto storeEach = [&](Store store) {
    forEachPlace(shape.tile, [&](Value number) {
      Place place = placeIn(tile, number);
      emitIf(place.isThere, [&] { store(place.number, itemInRun(tile, shared.load(number))); });
    });
  };
  Value isWhole = items.compare(arith::CmpIPredicate::ule, length, items.i64(shape.tile));
  storeItems(isWhole, items.i64(0), tile.base, storeEach);
}

// Sorts runs in the registers of groups of threads.
void SortEmitter::sortOwn(MutableArrayRef<SortItem> own) {
  items.sort(own);
  for (int64_t group = 2; group * kItemsOfThread <= shape.registerRun(); group *= 2)
    items.mergeInGroup(own, group, thread);
}

void SortEmitter::emitTiles() {
  SharedItems shared = shareItems(shape.tile);
  forEachTile(tileCount(), [&](Value number) {
    Tile tile = tileAt(number);
    loadTile(tile, shared);
    synchronize();
    SmallVector<SortItem> own = shared.loadOwn();
    sortOwn(own);
    shared.storeOwn(mergeOwn(shared, own, tile.levels));
    synchronize();
    storeTile(tile, shared);
    synchronize();
  });
}
