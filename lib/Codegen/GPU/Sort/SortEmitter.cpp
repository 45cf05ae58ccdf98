// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SortEmitter.h"
#include "../Generic/SharedMemory.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

//===- How lines are sorted -----------------------------------------------===//

// Items of a tile at most, by the shared memory that every chip has, and at least, so that a block has
// several warps.
static constexpr int64_t kMaxTile = 8192, kMaxWideTile = 4096, kMinTile = 1024;
// Smaller tiles than those that are sorted: blocks that wait for memory overlap with others.
static constexpr int64_t kMergeTile = 4096;
// Blocks of an SM where the host does not know how many tiles have work.
static constexpr int64_t kOpenBlocksPerSM = 2;

// Where lengths are open, tiles of short lines would be large for nothing.
SortShape::SortShape(ArgsortOp sort)
    : element(sort.getInput().getType().getElementType()), descending(sort.getDescending()),
      shape(sort.getInput().getType().getShape()) {
  int64_t most = SortItems::keyBytes(element) == 8 ? kMaxWideTile : kMaxTile;
  tile = ShapedType::isDynamic(length())
             ? most / 2
             : std::clamp(static_cast<int64_t>(llvm::PowerOf2Ceil(length())), kMinTile, most);
  mergeTile = std::min(tile, kMergeTile);
}

static int64_t powerOfTwoFor(int64_t length) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(std::max(length, kItemsOfThread)));
}

int64_t SortShape::linesOfTile() const { return std::max<int64_t>(tile / powerOfTwoFor(length()), 1); }

static LaunchShape launchOf(const SortShape &sort, int64_t tile) {
  LaunchShape launch = {MappingLevel::block, /*result=*/0, static_cast<int64_t>(sort.shape.size())};
  launch.tile = {tile};
  launch.threadsPerBlock = tile / kItemsOfThread;
  launch.dynamicSharedBytes = SharedItems::bytesFor(sort.element, tile);
  return launch;
}

LaunchShape SortShape::tilesLaunch() const {
  LaunchShape launch = launchOf(*this, tile);
  if (ShapedType::isDynamic(length())) {
    launch.persistentBlocks = kOpenBlocksPerSM;
  } else if (!mayMerge()) {
    launch.tile = {std::max<int64_t>(length(), 1)};
    launch.elements = linesOfTile();
  }
  return launch;
}

LaunchShape SortShape::mergeLaunch() const { return launchOf(*this, mergeTile); }

//===- Arguments and threads ----------------------------------------------===//

// The number of lines, and the elements of each.
static std::pair<Value, Value> boundSizes(ScalarBuilder &code, FunctionOpInterface function,
                                          const SortShape &shape) {
  unsigned argument = 1;
  auto sizeOf = [&](int64_t size) -> Value {
    if (!ShapedType::isDynamic(size))
      return code.i64(size);
    return arith::IndexCastOp::create(code.builder, code.loc, code.builder.getI64Type(),
                                      function.getArgument(argument++));
  };
  Value lines = code.i64(1);
  for (int64_t size : ArrayRef(shape.shape).drop_back())
    lines = code.binary<arith::MulIOp>(lines, sizeOf(size));
  return {lines, sizeOf(shape.length())};
}

SortEmitter::SortEmitter(FunctionOpInterface function, const SortShape &shape)
    : shape(shape), function(function),
      builder(OpBuilder::atBlockBegin(&function.getFunctionBody().front())), loc(function.getLoc()),
      items(builder, loc, shape.element, shape.descending) {
  Block &entry = function.getFunctionBody().front();
  int64_t open = llvm::count_if(shape.shape, ShapedType::isDynamic);
  keys = entry.getArgument(0);
  positions = entry.getArgument(1 + open);
  std::tie(lines, length) = boundSizes(items, function, shape);
  thread = threadNumber();
  if (auto more = entry.getArguments().drop_front(2 * (1 + open)); more.size() == 2) {
    memory = more[0];
    pass = more[1];
  }
}

Value SortEmitter::threadNumber() {
  Value number = ::mlir::gpu::ThreadIdOp::create(builder, loc, ::mlir::gpu::Dimension::x);
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
}

// Blocks take tiles by turns: every grid computes all of them.
void SortEmitter::forEachTile(Value count, function_ref<void(Value)> body) {
  using ::mlir::gpu::Dimension;
  auto wide = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  };
  Value block = wide(::mlir::gpu::BlockIdOp::create(builder, loc, Dimension::x));
  Value blocks = wide(::mlir::gpu::GridDimOp::create(builder, loc, Dimension::x));
  auto loop = scf::ForOp::create(builder, loc, block, count, blocks);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

// Neighbouring threads have neighbouring places.
void SortEmitter::forEachPlace(int64_t count, function_ref<void(Value)> body) {
  for (int64_t first = 0; first < count; first += count / kItemsOfThread)
    body(items.add(thread, first));
}

// The item behind the others comes after all of them.
SharedItems SortEmitter::shareItems(int64_t count) {
  SharedItems shared(items, function, shape.element, count, thread);
  emitIf(items.compare(arith::CmpIPredicate::eq, thread, items.i32(0)),
         [&] { shared.store(items.i32(count), items.last()); });
  return shared;
}

void SortEmitter::emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  if (std::optional<int64_t> known = getConstantIntValue(condition)) {
    if (*known)
      then();
    else if (otherwise)
      otherwise();
    return;
  }
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

//===- Tiles --------------------------------------------------------------===//

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

// The least number of levels that hold a line, or a tile.
static Value levelsOf(SortItems &items, Value length, int64_t tile) {
  int64_t most = llvm::Log2_64(tile);
  if (std::optional<int64_t> known = getConstantIntValue(length))
    return items.i32(std::min<int64_t>(llvm::Log2_64(powerOfTwoFor(*known)), most));
  Value least = items.binary<arith::MaxUIOp>(length, kItemsOfThread);
  Value zeros = LLVM::CountLeadingZerosOp::create(items.builder, items.loc, length.getType(),
                                                  items.sub(least, items.i64(1)), /*is_zero_poison=*/false);
  return items.resized(items.binary<arith::MinUIOp>(items.sub(items.i64(64), zeros), most), 32);
}

Value SortEmitter::tileCount() {
  Value places = items.i64(shape.tile), levels = items.resized(levelsOf(items, length, shape.tile), 64);
  Value linesOfTile = items.binary<arith::ShRUIOp>(places, levels);
  return items.binary<arith::MulIOp>(items.binary<arith::CeilDivUIOp>(lines, linesOfTile),
                                     items.binary<arith::CeilDivUIOp>(length, places));
}

SortEmitter::Tile SortEmitter::tileAt(Value number) {
  Tile tile;
  tile.levels = levelsOf(items, length, shape.tile);
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
  if (shape.linesOfTile() == 1)
    return {place, place, items.isBelow(place, tile.elements)};
  Value row = items.binary<arith::ShRUIOp>(place, tile.levels);
  Value column = items.sub(place, items.binary<arith::ShLIOp>(row, tile.levels));
  Value isThere = items.binary<arith::AndIOp>(items.isBelow(row, tile.lines),
                                              items.isBelow(column, tile.elements));
  return {column, items.add(items.binary<arith::MulIOp>(row, tile.elements), column), isThere};
}

// All elements are loaded before the first one is stored. Places without an element have items that come last.
void SortEmitter::loadTile(const Tile &tile, SharedItems &shared) {
  Type memory = items.memoryType();
  Value first = items.at(keys, memory, tile.base), firstPosition = items.resized(tile.first, 32);
  SmallVector<std::pair<Value, SortItem>> loaded;
  forEachPlace(shape.tile, [&](Value number) {
    Place place = placeIn(tile, number);
    Value element = items.select(place.isThere, place.number, items.i32(0));
    SortItem item = items.make(loadAt(first, memory, element), items.add(firstPosition, place.column));
    loaded.push_back({number, items.select(place.isThere, item, items.last())});
  });
  for (auto &[number, item] : loaded)
    shared.store(number, item);
}

static SmallVector<Value> valuesOf(ArrayRef<SortItem> list) {
  SmallVector<Value> values;
  for (const SortItem &item : list)
    values.append({item.key, item.position});
  return values;
}

static SmallVector<SortItem> itemsFrom(ValueRange values) {
  SmallVector<SortItem> list;
  for (size_t i = 0; i < values.size(); i += 2)
    list.push_back({values[i], values[i + 1]});
  return list;
}

// Merges sorted runs of kItemsOfThread items until a run has 2^levels.
SmallVector<SortItem> SortEmitter::mergeOwn(SharedItems &shared, SmallVector<SortItem> own, Value levels) {
  Value one = items.i32(1);
  auto loop = scf::ForOp::create(builder, loc, items.i32(llvm::Log2_64(kItemsOfThread)), levels, one,
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

void SortEmitter::storeTile(const Tile &tile, SharedItems &shared) {
  auto storeEach = [&](Store store) {
    forEachPlace(shape.tile, [&](Value number) {
      Place place = placeIn(tile, number);
      emitIf(place.isThere, [&] { store(place.number, shared.load(number)); });
    });
  };
  Value isWhole = items.compare(arith::CmpIPredicate::ule, length, items.i64(shape.tile));
  storeItems(isWhole, items.i64(0), tile.base, storeEach);
}

void SortEmitter::emitTiles() {
  SharedItems shared = shareItems(shape.tile);
  forEachTile(tileCount(), [&](Value number) {
    Tile tile = tileAt(number);
    loadTile(tile, shared);
    synchronize();
    SmallVector<SortItem> own = shared.loadOwn();
    items.sort(own);
    shared.storeOwn(mergeOwn(shared, own, tile.levels));
    synchronize();
    storeTile(tile, shared);
    synchronize();
  });
}

// Stores items from that element on: their positions if lines are sorted, else the items themselves. `side`
// of the memory of runs; `storeEach` stores items by their numbers.
void SortEmitter::storeItems(Value isSorted, Value side, Value element,
                             function_ref<void(Store)> storeEach) {
  emitIf(
      isSorted,
      [&] {
        Value first = items.at(positions, builder.getI64Type(), element);
        storeEach([&](Value number, const SortItem &item) {
          storeAt(first, number, items.resized(item.position, 64));
        });
      },
      [&] {
        Runs runs = runsAt(side, element);
        storeEach([&](Value number, const SortItem &item) { storeTo(runs, number, item); });
      });
}

//===- Runs in memory -----------------------------------------------------===//

// The items of all lines, twice, as kernels read one side and write the other; one part after the other.
SortEmitter::Runs SortEmitter::runsAt(Value side, Value element) {
  Value all = items.binary<arith::MulIOp>(lines, length);
  Value ofSide = items.add(items.binary<arith::MulIOp>(side, all), element);
  Value allPositions = items.at(memory, items.keyType(), items.add(all, all));
  return {items.at(memory, items.keyType(), ofSide), items.at(allPositions, items.positionType(), ofSide)};
}

Value SortEmitter::loadAt(Value pointer, Type type, Value number) {
  return LLVM::LoadOp::create(builder, loc, type, items.at(pointer, type, number),
                              type.getIntOrFloatBitWidth() / 8);
}

void SortEmitter::storeAt(Value pointer, Value number, Value value) {
  LLVM::StoreOp::create(builder, loc, value, items.at(pointer, value.getType(), number),
                        value.getType().getIntOrFloatBitWidth() / 8);
}

SortItem SortEmitter::loadFrom(const Runs &runs, Value number) {
  return {loadAt(runs.keys, items.keyType(), number), loadAt(runs.positions, items.positionType(), number)};
}

void SortEmitter::storeTo(const Runs &runs, Value number, const SortItem &item) {
  storeAt(runs.keys, number, item.key);
  storeAt(runs.positions, number, item.position);
}

// How many of the first `before` items of two merged runs are from x, between the bounds. The threads of a
// warp compare at 32 places of what is left, so that few loads follow one another.
Value SortEmitter::splitOf(Value keysOfX, Value keysOfY, Value least, Value most, Value before) {
  Type i32 = builder.getI32Type();
  Value lane = items.binary<arith::AndIOp>(thread, kWarpThreads - 1), lastOfY = items.sub(before, items.i32(1));
  auto body = [&](OpBuilder &, Location, ValueRange bounds) {
    Value left = items.sub(bounds[1], bounds[0]);
    Value step = items.binary<arith::CeilDivUIOp>(left, kWarpThreads);
    auto lastOf = [&](Value part) {
      return items.sub(items.add(bounds[0], items.binary<arith::MulIOp>(items.add(part, 1), step)), items.i32(1));
    };
    Value place = lastOf(lane), isThere = items.isBelow(place, bounds[1]);
    place = items.select(isThere, place, bounds[0]);
    Value isFirst = items.compare(arith::CmpIPredicate::ule, loadAt(keysOfX, items.keyType(), place),
                                  loadAt(keysOfY, items.keyType(), items.sub(lastOfY, place)));
    Value all = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(-1));
    Value votes =
        NVVM::VoteSyncOp::create(builder, loc, i32, all, items.binary<arith::AndIOp>(isThere, isFirst),
                                 NVVM::VoteSyncKind::ballot);
    Value parts = LLVM::CtPopOp::create(builder, loc, i32, votes);
    Value from = items.add(bounds[0], items.binary<arith::MulIOp>(parts, step));
    scf::YieldOp::create(builder, loc,
                         ValueRange{from, items.binary<arith::MinUIOp>(lastOf(parts), bounds[1])});
  };
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{i32, i32}, ValueRange{least, most},
      [&](OpBuilder &, Location, ValueRange bounds) {
        scf::ConditionOp::create(builder, loc, items.isBelow(bounds[0], bounds[1]), bounds);
      },
      body);
  return loop.getResult(0);
}

/// A part of two merged runs, x and y. All numbers are i32, those of items from the first one of x.
struct SortEmitter::Merge {
  Value start;     ///< of x in its line
  Value ofX, ofY;  ///< items of each
  Value run;       ///< where y begins
  Value before;    ///< merged items before the part
  Value count;     ///< items of the part
};

// A warp searches where the part begins in x and y, another one where it ends.
std::pair<Value, Value> SortEmitter::splitsOf(const Merge &merge, Value keysOfX, Value splits) {
  Value warp = items.binary<arith::ShRUIOp>(thread, llvm::Log2_64(kWarpThreads));
  emitIf(items.isBelow(warp, items.i32(2)), [&] {
    Value end = items.add(merge.before, items.binary<arith::MulIOp>(warp, merge.count));
    Value least = items.sub(end, items.binary<arith::MinUIOp>(end, merge.ofY));
    Value keysOfY = items.at(keysOfX, items.keyType(), merge.run);
    Value split = splitOf(keysOfX, keysOfY, least, items.binary<arith::MinUIOp>(end, merge.ofX), end);
    Value lane = items.binary<arith::AndIOp>(thread, kWarpThreads - 1);
    emitIf(items.compare(arith::CmpIPredicate::eq, lane, items.i32(0)), [&] { storeAt(splits, warp, split); });
  });
  synchronize();
  auto splitAt = [&](int64_t number) { return loadAt(splits, builder.getI32Type(), items.i32(number)); };
  return {splitAt(0), splitAt(1)};
}

// Loads the part into shared memory, the items of x first, of which there are `countOfX`; all of them are
// loaded before the first one is stored. Places behind the part have any items.
void SortEmitter::loadPart(const Merge &merge, const Runs &runs, Value firstX, Value countOfX,
                           SharedItems &shared) {
  // What is skipped from the items of x to those of y.
  Value toY = items.sub(items.sub(items.add(merge.run, merge.before), firstX), items.add(firstX, countOfX));
  SmallVector<std::pair<Value, SortItem>> loaded;
  forEachPlace(shape.mergeTile, [&](Value place) {
    Value skipped = items.select(items.isBelow(place, countOfX), items.i32(0), toY);
    Value number = items.add(items.add(firstX, place), skipped);
    number = items.select(items.isBelow(place, merge.count), number, items.i32(0));
    loaded.push_back({place, loadFrom(runs, number)});
  });
  for (auto &[place, item] : loaded)
    shared.store(place, item);
}

void SortEmitter::emitMerge() {
  SharedItems shared = shareItems(shape.mergeTile);
  Type i32 = builder.getI32Type();
  Value splits = sharedMemory(builder, function, 2 * sizeof(int32_t), "splits");
  Value places = items.i64(shape.mergeTile), tilesOfLine = items.binary<arith::CeilDivUIOp>(length, places);
  Value elements = items.resized(length, 32), level = arith::IndexCastOp::create(builder, loc, i32, pass);
  Value run = items.binary<arith::ShLIOp>(items.i32(shape.tile), level), both = items.add(run, run);
  Value from = items.resized(items.binary<arith::AndIOp>(level, 1), 64);
  Value to = items.binary<arith::XOrIOp>(from, 1);
  forEachTile(items.binary<arith::MulIOp>(lines, tilesOfLine), [&](Value number) {
    Value first = items.resized(
        items.binary<arith::MulIOp>(items.binary<arith::RemUIOp>(number, tilesOfLine), places), 32);
    Value line = items.binary<arith::MulIOp>(items.binary<arith::DivUIOp>(number, tilesOfLine), length);
    Merge merge = mergeAt(first, elements, run);
    Runs runs = runsAt(from, items.add(line, items.resized(merge.start, 64)));
    auto [firstX, endX] = splitsOf(merge, runs.keys, splits);
    Value countOfX = items.sub(endX, firstX);
    loadPart(merge, runs, firstX, countOfX, shared);
    synchronize();
    Value own = items.binary<arith::MinUIOp>(items.binary<arith::MulIOp>(thread, kItemsOfThread), merge.count);
    SmallVector<SortItem> merged = shared.merge({items.i32(0), countOfX}, {countOfX, merge.count}, own);
    synchronize();
    shared.storeOwn(merged);
    synchronize();
    Value element = items.add(line, items.resized(first, 64));
    storeItems(items.compare(arith::CmpIPredicate::uge, both, elements), to, element, [&](Store store) {
      forEachPlace(shape.mergeTile, [&](Value place) {
        emitIf(items.isBelow(place, merge.count), [&] { store(place, shared.load(place)); });
      });
    });
  });
}

// The part that begins there in its line. The last runs of a line may be short or empty.
SortEmitter::Merge SortEmitter::mergeAt(Value first, Value elements, Value run) {
  Value both = items.add(run, run), before = items.binary<arith::AndIOp>(first, items.sub(both, items.i32(1)));
  Value start = items.sub(first, before), left = items.sub(elements, start);
  Value ofX = items.binary<arith::MinUIOp>(left, run);
  Value ofY = items.binary<arith::MinUIOp>(items.sub(left, ofX), run);
  Value count = items.binary<arith::MinUIOp>(items.sub(elements, first), shape.mergeTile);
  return {start, ofX, ofY, run, before, count};
}

//===- On the host --------------------------------------------------------===//

// For lines that are too long there is never enough memory.
static constexpr int64_t kTooManyBytes = int64_t(1) << 62;

void device::emitRunSizes(func::FuncOp host, const SortShape &shape) {
  OpBuilder builder = OpBuilder::atBlockBegin(&host.getBody().front());
  ScalarBuilder code(builder, host.getLoc());
  auto [lines, length] = boundSizes(code, host, shape);
  Value tile = code.i64(shape.tile), one = code.i64(1);
  Value tiles = code.binary<arith::CeilDivUIOp>(code.binary<arith::MaxUIOp>(length, one), tile);
  Value zeros = LLVM::CountLeadingZerosOp::create(builder, code.loc, builder.getI64Type(),
                                                  code.sub(tiles, one), /*is_zero_poison=*/false);
  Value merges = code.sub(code.i64(64), zeros);
  Value bytes = code.binary<arith::MulIOp>(code.binary<arith::MulIOp>(lines, length),
                                           2 * SortItems::bytesOf(shape.element));
  Value isTile = code.compare(arith::CmpIPredicate::eq, merges, code.i64(0));
  bytes = code.select(isTile, one, code.binary<arith::MaxUIOp>(bytes, one));
  Value fits = code.compare(arith::CmpIPredicate::ult, length, code.i64(kFirstTooLong));
  bytes = code.select(fits, bytes, code.i64(kTooManyBytes));
  auto index = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, code.loc, builder.getIndexType(), value);
  };
  func::ReturnOp::create(builder, code.loc, ValueRange{index(bytes), index(merges)});
}
