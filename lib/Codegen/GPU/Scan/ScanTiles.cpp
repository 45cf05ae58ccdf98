// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ScanTiles.h"
#include "../Generic/SharedMemory.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// More chains than any tensor has elements: the grid does not enumerate the scanned axis.
static constexpr int64_t kWholeAxis = int64_t(1) << 40;

//===- Sizes --------------------------------------------------------------===//

unsigned ScanTiles::axisOfSteps() {
  return *stepMapOf(scan.op).getResultPosition(builder.getAffineDimExpr(scannedDim(scan.op)));
}

// A column of null: a bundle is a chain.
std::pair<Value, Value> ScanTiles::inBundle(Value chain) {
  return scan.columns > 1 ? divideShort(chain, indexConstant(scan.columns))
                          : std::pair<Value, Value>(chain, Value());
}

Value ScanTiles::chainsOf(Value bundles) {
  return binary<arith::MulIOp>(bundles, indexConstant(std::max<int64_t>(scan.columns, 1)));
}

void ScanTiles::layOut() {
  Nest nest = scans.nestOverChains(scan.op);
  length = reductionLoops.sizeOf(scan.op, scannedDim(scan.op));
  if (scan.columns > 1)
    nest.sizes.truncate(axisOfSteps());
  bundles = indexConstant(1);
  for (Value size : nest.sizes)
    bundles = binary<arith::MulIOp>(bundles, size);
  blocks = binary<arith::CeilDivUIOp>(length, indexConstant(scan.block));
  parts = binary<arith::CeilDivUIOp>(blocks, indexConstant(scan.blocksOfPart));
  Value ofPart = binary<arith::MaxUIOp>(binary<arith::MinUIOp>(blocks, indexConstant(scan.blocksOfPart)),
                                        indexConstant(1));
  if (scan.hasSquares()) {
    bundlesOfGroup = binary<arith::MaxUIOp>(binary<arith::DivUIOp>(indexConstant(scan.runsOfBlock()), ofPart),
                                            indexConstant(1));
  } else {
    Value wanted = binary<arith::DivUIOp>(indexConstant(kBlockThreads), ofPart);
    wanted = binary<arith::MaxUIOp>(wanted, indexConstant(kWarpThreads));
    bundlesOfGroup = binary<arith::MinUIOp>(wanted, binary<arith::MaxUIOp>(bundles, indexConstant(1)));
  }
  groups = binary<arith::CeilDivUIOp>(bundles, bundlesOfGroup);
}

// [tile, chain], or [chain, tile] where the totals of a chain are read one after another. Of parts of tiles,
// the totals of all blocks are in memory.
Buffer ScanTiles::totalsInMemory(Value memory) {
  Buffer buffer{memory,
                getElementTypeOrSelf(scan.op->getResult(1)),
                {ShapedType::kDynamic, ShapedType::kDynamic},
                {scan.dividesTiles() ? blocks : parts, chainsOf(bundles)}};
  if (scan.columns == 1)
    std::swap(buffer.sizes[0], buffer.sizes[1]);
  return buffer;
}

static Position inTotals(const TiledScan &scan, Value number, Value chain) {
  Position position = {{number, 0, nullptr}, {chain, 0, nullptr}};
  if (scan.columns == 1)
    std::swap(position[0], position[1]);
  return position;
}

// Thread blocks enumerate groups of chains, and of divided ones the parts of each. Groups follow the last
// axes of the chains, as far as a tile of axes can say it; a grid with other sizes computes the same.
void ScanTiles::describeLaunch() {
  auto type = cast<RankedTensorType>(scan.op->getResult(0).getType());
  int64_t axis = axisOfSteps();
  launchShape = {MappingLevel::block, 0, type.getRank()};
  launchShape.threadsPerBlock = scan.threadsPerBlock();
  launchShape.tile.assign(type.getRank(), 1);
  int64_t last = type.getRank() - 1;
  if (scan.columns > 1) {
    last = axis - 1;
    llvm::copy(type.getShape().drop_front(axis), launchShape.tile.begin() + axis);
  }
  while (last >= 0 && (last == axis || type.getDimSize(last) == 1))
    --last;
  if (last >= 0)
    launchShape.tile[last] = bundlesPerBlock(scan);
  launchShape.tile[axis] = work == Work::all ? kWholeAxis : scan.block * scan.blocksOfPart;
  if (work == Work::merge)
    launchShape.persistentBlocks = kPersistentBlocks;
}

//===- Shared memory ------------------------------------------------------===//

void ScanTiles::allocate() {
  totals = sharedMemory(builder, function, scan.countOfTotals() * scan.elementBytes(), "totals");
  if (hasTotalsInMemory())
    tileTotals = sharedMemory(builder, function, scan.countOfTileTotals() * scan.elementBytes(), "tiles");
  if (!scan.hasSquares())
    return;
  int64_t warps = scan.threadsPerBlock() / kWarpThreads;
  Value all = sharedMemory(builder, function, warps * scan.bytesOfSquare(), "squares");
  Value warp = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads));
  square = addBytes(builder, loc, all, binary<arith::MulIOp>(warp, indexConstant(scan.bytesOfSquare())));
  std::tie(run, column) = inBundle(mapping.lane);
}

static Value addressOf(OpBuilder &builder, Location loc, Value start, Value number, int64_t bytes) {
  Value offset =
      builder.createOrFold<arith::MulIOp>(loc, number, arith::ConstantIndexOp::create(builder, loc, bytes));
  return addBytes(builder, loc, start, offset);
}

Value ScanTiles::loadTotal(Value from, Value number) {
  Type element = getElementTypeOrSelf(scan.op->getResult(1)), memory = memoryType(element);
  Value address = addressOf(builder, loc, from, number, memoryBytes(memory));
  return fromMemory(LLVM::LoadOp::create(builder, loc, memory, address, memoryBytes(memory)), element);
}

void ScanTiles::storeTotal(Value to, Value number, Value total) {
  total = toMemory(total);
  int64_t bytes = memoryBytes(total.getType());
  LLVM::StoreOp::create(builder, loc, total, addressOf(builder, loc, to, number, bytes), bytes);
}

Value ScanTiles::addressInSquare(Value run, Value element) {
  Value pitch = indexConstant((kStepsOfSquare + 1) * scan.columns);
  Value number = binary<arith::AddIOp>(binary<arith::MulIOp>(run, pitch), element);
  return addressOf(builder, loc, square, number, scan.elementBytes());
}

//===- Tiles --------------------------------------------------------------===//

// Each thread block has consecutive parts of consecutive groups; whole groups where those are not divided.
// The carry is that of the thread's chain, if it has one.
LogicalResult ScanTiles::emitOutputs() {
  describeLaunch();
  layOut();
  allocate();
  PerThread perThread(mapping);
  bool divided = work != Work::all;
  Value count = divided ? binary<arith::MulIOp>(groups, parts) : groups;
  Value perBlock = binary<arith::CeilDivUIOp>(count, mapping.gridBlocks);
  Value begin = binary<arith::MulIOp>(mapping.block, perBlock);
  Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(begin, perBlock), count);
  if (!divided) {
    begin = binary<arith::MulIOp>(begin, parts);
    end = binary<arith::MulIOp>(end, parts);
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end, indexConstant(1), scans.neutralOf(scan.op));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  Value task = loop.getInductionVar();
  Tile tile = tileOf(task);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, task, begin);
  Before before = totalsBefore(tile, isFirst, loop.getRegionIterArg(0));
  FailureOr<Value> next = emitTile(tile, before);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  return success();
}

// The size of the part that begins after `before` of `all` elements: `each`, or fewer in the last part. A
// constant where all parts have one size.
static Value partOf(OpBuilder &builder, Location loc, Value all, Value before, Value each) {
  std::optional<int64_t> size = constantOf(all), part = constantOf(each);
  if (size && part && *part > 0 && (*size % *part == 0 || *size <= *part))
    return *size <= *part ? all : each;
  return builder.createOrFold<arith::MinUIOp>(loc, builder.createOrFold<arith::SubIOp>(loc, all, before),
                                              each);
}

ScanTiles::Tile ScanTiles::tileOf(Value task) {
  Tile tile;
  tile.number = binary<arith::RemUIOp>(task, parts);
  tile.firstBundle = binary<arith::MulIOp>(binary<arith::DivUIOp>(task, parts), bundlesOfGroup);
  tile.bundles = partOf(builder, loc, bundles, tile.firstBundle, bundlesOfGroup);
  Value each = indexConstant(scan.blocksOfPart);
  tile.blocks = partOf(builder, loc, blocks, binary<arith::MulIOp>(tile.number, each), each);
  tile.count = binary<arith::MulIOp>(tile.bundles, tile.blocks);
  return tile;
}

// The running sum of totals, of which `load` loads so many at once, from a sum on.
Value ScanTiles::sumTotals(Value lower, Value upper, Value start, function_ref<Value(Value)> load) {
  auto sumFrom = [&](Value lower, Value upper, int64_t unroll, Value start) -> Value {
    auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(unroll), start);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> loaded;
    for (int64_t i = 0; i < unroll; ++i)
      loaded.push_back(load(binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i))));
    Value sum = loop.getRegionIterArg(0);
    for (Value total : loaded)
      sum = scans.join(scan.op, sum, total);
    scf::YieldOp::create(builder, loc, sum);
    return loop.getResult(0);
  };
  Value count = binary<arith::SubIOp>(upper, lower);
  Value middle = binary<arith::SubIOp>(upper, binary<arith::RemUIOp>(count, indexConstant(kStepsAtOnce)));
  return sumFrom(middle, upper, 1, sumFrom(lower, middle, kStepsAtOnce, start));
}

Value ScanTiles::firstBlockOf(const Tile &tile) {
  return binary<arith::MulIOp>(tile.number, indexConstant(scan.blocksOfPart));
}

// The total of a block: for the thread that turns it into a carry, or for the kernel that does.
void ScanTiles::keepTotal(const Block &block, Value column, Value number, Value total) {
  if (work != Work::partial || !scan.dividesTiles())
    return storeTotal(totals, number, total);
  Value chain = column ? binary<arith::AddIOp>(chainsOf(block.bundle), column) : block.bundle;
  Value ofOrder = binary<arith::DivUIOp>(lowerOf(block), indexConstant(scan.block));
  memoryAccess.store(totalsInMemory(partialTree.getMemory()), inTotals(scan, ofOrder, chain), total);
}

// A thread block knows the carry of its own tiles; of those before its first one, the totals are in memory.
ScanTiles::Before ScanTiles::totalsBefore(const Tile &tile, Value isFirstTask, Value carry) {
  Value neutral = scans.neutralOf(scan.op);
  Value isFirstTile =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tile.number, indexConstant(0));
  if (work != Work::merge) {
    Value chosen = arith::SelectOp::create(builder, loc, isFirstTile, toMemory(neutral), toMemory(carry));
    return {fromMemory(chosen, neutral.getType()), neutral};
  }
  if (scan.dividesTiles())
    return sumsBefore(tile);
  Value isNew = binary<arith::OrIOp>(isFirstTask, isFirstTile);
  auto branch = scf::IfOp::create(builder, loc, carry.getType(), isNew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard inside(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, carryBefore(tile));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, carry);
  return {branch.getResult(0), neutral};
}

// The running total of the tiles before this one, in the thread that has the chain.
Value ScanTiles::carryBefore(const Tile &tile) {
  Value chain = binary<arith::AddIOp>(chainsOf(tile.firstBundle), mapping.threadInBlock);
  Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, mapping.threadInBlock,
                                          chainsOf(tile.bundles));
  Value count = arith::SelectOp::create(builder, loc, isPresent, tile.number, indexConstant(0));
  Buffer buffer = totalsInMemory(partialTree.getMemory());
  return sumTotals(indexConstant(0), count, scans.neutralOf(scan.op),
                   [&](Value number) { return memoryAccess.load(buffer, inTotals(scan, number, chain)); });
}

// Where thread blocks have parts of tiles: the threads of a block sum the blocks of all tiles before the
// part, and those before it in its own tile. Then the thread that has a chain sums its tiles.
ScanTiles::Before ScanTiles::sumsBefore(const Tile &tile) {
  Value neutral = scans.neutralOf(scan.op), each = indexConstant(scan.blocksOfTile);
  Value chains = chainsOf(tile.bundles), firstBlock = firstBlockOf(tile);
  Value tiles = binary<arith::DivUIOp>(firstBlock, each);
  Value sums = binary<arith::MulIOp>(binary<arith::AddIOp>(tiles, indexConstant(1)), chains);
  Buffer buffer = totalsInMemory(partialTree.getMemory());
  (void)emitLoop(mapping.threadInBlock, sums, mapping.blockThreads, [&](Value number) {
    auto [ofTile, ofChain] = divideShort(number, chains);
    Value chain = binary<arith::AddIOp>(chainsOf(tile.firstBundle), ofChain);
    Value lower = binary<arith::MulIOp>(ofTile, each);
    Value upper = binary<arith::MinUIOp>(binary<arith::AddIOp>(lower, each), firstBlock);
    Value sum = sumTotals(lower, upper, neutral, [&](Value block) {
      return memoryAccess.load(buffer, inTotals(scan, block, chain));
    });
    storeTotal(tileTotals, number, sum);
    return success();
  });
  mapping.synchronizeBlock();
  Value isPresent =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, mapping.threadInBlock, chains);
  Value own = arith::SelectOp::create(builder, loc, isPresent, mapping.threadInBlock, indexConstant(0));
  auto load = [&](Value number) {
    return loadTotal(tileTotals, binary<arith::AddIOp>(binary<arith::MulIOp>(number, chains), own));
  };
  Value carry = sumTotals(indexConstant(0), tiles, neutral, load);
  return {carry, load(tiles)};
}

// Where thread blocks have parts of tiles, the first kernel stores the totals of all blocks.
bool ScanTiles::hasTotalsInMemory() { return work == Work::merge && scan.dividesTiles(); }

bool ScanTiles::hasCarries() {
  std::optional<int64_t> known = constantOf(length);
  return !known || *known > scan.block;
}

// Returns the carry into the next tile.
FailureOr<Value> ScanTiles::emitTile(const Tile &tile, const Before &before) {
  if (!hasCarries())
    return failed(emitPass(tile, Pass::results)) ? FailureOr<Value>(failure())
                                                 : FailureOr<Value>(before.carry);
  mapping.synchronizeBlock(); // all threads have read the carries before
  if (!hasTotalsInMemory() && failed(emitPass(tile, Pass::totals)))
    return failure();
  if (work == Work::partial && scan.dividesTiles())
    return before.carry;
  mapping.synchronizeBlock();
  FailureOr<Value> next = joinTotals(tile, before);
  if (failed(next) || work == Work::partial)
    return next;
  mapping.synchronizeBlock();
  if (failed(emitPass(tile, Pass::results)))
    return failure();
  return next;
}

// Of a block of the chain that this thread has.
Value ScanTiles::numberInTotals(const Tile &tile, Value block) {
  Value own = mapping.threadInBlock;
  if (!scan.hasSquares())
    return binary<arith::AddIOp>(binary<arith::MulIOp>(block, tile.bundles), own);
  auto [bundle, ofBundle] = inBundle(own);
  Value number = binary<arith::AddIOp>(binary<arith::MulIOp>(bundle, tile.blocks), block);
  return ofBundle ? binary<arith::AddIOp>(chainsOf(number), ofBundle) : number;
}

// Turns the totals of the blocks of a chain into what each of them is joined to.
FailureOr<Value> ScanTiles::joinTotals(const Tile &tile, const Before &before) {
  Value carry = before.carry;
  Value own = mapping.threadInBlock;
  Value chain = binary<arith::AddIOp>(chainsOf(tile.firstBundle), own);
  Value isPresent =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, own, chainsOf(tile.bundles));
  auto branch = scf::IfOp::create(builder, loc, carry.getType(), isPresent, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, carry);
  builder.setInsertionPointToStart(branch.thenBlock());
  Buffer buffer = work == Work::all ? Buffer() : totalsInMemory(partialTree.getMemory());
  auto joinFrom = [&](Value lower, Value upper, int64_t unroll, Value start) -> Value {
    auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(unroll), start);
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> numbers, loaded;
    for (int64_t i = 0; i < unroll; ++i) {
      Value block = binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i));
      numbers.push_back(numberInTotals(tile, block));
      Position inMemory = inTotals(scan, binary<arith::AddIOp>(firstBlockOf(tile), block), chain);
      loaded.push_back(hasTotalsInMemory() ? memoryAccess.load(buffer, inMemory)
                                           : loadTotal(totals, numbers.back()));
    }
    Value sum = loop.getRegionIterArg(0);
    for (auto [number, total] : llvm::zip_equal(numbers, loaded)) {
      if (work != Work::partial)
        storeTotal(totals, number, scans.join(scan.op, carry, sum));
      sum = scans.join(scan.op, sum, total);
    }
    scf::YieldOp::create(builder, loc, sum);
    return loop.getResult(0);
  };
  Value middle =
      binary<arith::SubIOp>(tile.blocks, binary<arith::RemUIOp>(tile.blocks, indexConstant(kStepsAtOnce)));
  Value sum = joinFrom(indexConstant(0), middle, kStepsAtOnce, before.sum);
  sum = joinFrom(middle, tile.blocks, 1, sum);
  if (work == Work::partial)
    memoryAccess.store(buffer, inTotals(scan, tile.number, chain), sum);
  scf::YieldOp::create(builder, loc, scans.join(scan.op, carry, sum));
  return branch.getResult(0);
}
