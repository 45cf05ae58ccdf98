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

void ScanTiles::layOut() {
  Nest nest = scans.nestOverChains(scan.op);
  length = reductionLoops.sizeOf(scan.op, scannedDim(scan.op));
  chains = indexConstant(1);
  for (Value size : nest.sizes)
    chains = binary<arith::MulIOp>(chains, size);
  blocks = binary<arith::CeilDivUIOp>(length, indexConstant(scan.block));
  tiles = binary<arith::CeilDivUIOp>(blocks, indexConstant(scan.blocksOfTile));
  Value ofTile = binary<arith::MaxUIOp>(binary<arith::MinUIOp>(blocks, indexConstant(scan.blocksOfTile)),
                                        indexConstant(1));
  if (scan.isContiguous) {
    chainsOfGroup = binary<arith::DivUIOp>(indexConstant(kThreadsOfRows), ofTile);
  } else {
    Value wanted = binary<arith::DivUIOp>(indexConstant(kBlockThreads), ofTile);
    wanted = binary<arith::MaxUIOp>(wanted, indexConstant(kWarpThreads));
    chainsOfGroup = binary<arith::MinUIOp>(wanted, binary<arith::MaxUIOp>(chains, indexConstant(1)));
  }
  groups = binary<arith::CeilDivUIOp>(chains, chainsOfGroup);
}

// [tile, chain], or [chain, tile] where the totals of a chain are read one after another.
Buffer ScanTiles::totalsOfTiles(Value memory) {
  Buffer buffer{memory,
                getElementTypeOrSelf(scan.op->getResult(1)),
                {ShapedType::kDynamic, ShapedType::kDynamic},
                {tiles, chains}};
  if (scan.isContiguous)
    std::swap(buffer.sizes[0], buffer.sizes[1]);
  return buffer;
}

static Position inTotals(const TiledScan &scan, Value tile, Value chain) {
  Position position = {{tile, 0, nullptr}, {chain, 0, nullptr}};
  if (scan.isContiguous)
    std::swap(position[0], position[1]);
  return position;
}

// Thread blocks enumerate groups of chains, and with divided tiles the tiles of each. Groups follow the last
// axes of the chains, as far as a tile of axes can say it; a grid with other sizes computes the same.
void ScanTiles::describeLaunch() {
  auto type = cast<RankedTensorType>(scan.op->getResult(0).getType());
  int64_t axis = *stepMapOf(scan.op).getResultPosition(builder.getAffineDimExpr(scannedDim(scan.op)));
  int64_t known = linalg::GenericOp(scan.op).getStaticLoopRanges()[scannedDim(scan.op)];
  launchShape = {MappingLevel::block, 0, type.getRank()};
  launchShape.threadsPerBlock = scan.isContiguous ? kThreadsOfRows : kBlockThreads;
  launchShape.tile.assign(type.getRank(), 1);
  int64_t last = type.getRank() - 1;
  while (last >= 0 && (last == axis || type.getDimSize(last) == 1))
    --last;
  if (last >= 0)
    launchShape.tile[last] = chainsPerBlock(scan, known);
  launchShape.tile[axis] = work == Work::all ? kWholeAxis : scan.block * scan.blocksOfTile;
  if (work == Work::merge)
    launchShape.persistentBlocks = kPersistentBlocks;
}

//===- Shared memory ------------------------------------------------------===//

void ScanTiles::allocate() {
  int64_t known = linalg::GenericOp(scan.op).getStaticLoopRanges()[scannedDim(scan.op)];
  int64_t perChain = scan.blocksOfTile;
  if (!ShapedType::isDynamic(known))
    perChain = std::clamp<int64_t>(llvm::divideCeil(known, scan.block), 1, perChain);
  capacity = scan.isContiguous ? kThreadsOfRows : std::max(kBlockThreads, perChain * kWarpThreads);
  int64_t bytes = memoryBytes(getElementTypeOrSelf(scan.op->getResult(1)));
  totals = sharedMemory(builder, function, capacity * bytes, "totals");
  if (!scan.isContiguous)
    return;
  // A column of padding, so that the threads of a warp access different banks along rows and along columns.
  int64_t bytesOfWarp = kStepsOfSquare * (kStepsOfSquare + 1) * bytes;
  Value all = sharedMemory(builder, function, kThreadsOfRows / kWarpThreads * bytesOfWarp, "squares");
  Value warp = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpThreads));
  square = addBytes(builder, loc, all, binary<arith::MulIOp>(warp, indexConstant(bytesOfWarp)));
}

static Value addressOf(OpBuilder &builder, Location loc, Value start, Value number, int64_t bytes) {
  Value offset =
      builder.createOrFold<arith::MulIOp>(loc, number, arith::ConstantIndexOp::create(builder, loc, bytes));
  return addBytes(builder, loc, start, offset);
}

Value ScanTiles::loadTotal(Value number) {
  Type element = getElementTypeOrSelf(scan.op->getResult(1)), memory = memoryType(element);
  Value address = addressOf(builder, loc, totals, number, memoryBytes(memory));
  return fromMemory(LLVM::LoadOp::create(builder, loc, memory, address, memoryBytes(memory)), element);
}

void ScanTiles::storeTotal(Value number, Value total) {
  total = toMemory(total);
  int64_t bytes = memoryBytes(total.getType());
  LLVM::StoreOp::create(builder, loc, total, addressOf(builder, loc, totals, number, bytes), bytes);
}

Value ScanTiles::addressInSquare(Value row, Value column) {
  Value number = binary<arith::AddIOp>(binary<arith::MulIOp>(row, indexConstant(kStepsOfSquare + 1)), column);
  return addressOf(builder, loc, square, number, memoryBytes(getElementTypeOrSelf(scan.op->getResult(1))));
}

//===- Tiles --------------------------------------------------------------===//

// Each thread block has consecutive tiles of consecutive groups; whole groups where tiles are not divided.
// The carry is that of the thread's chain, if it has one.
LogicalResult ScanTiles::emitOutputs() {
  describeLaunch();
  layOut();
  allocate();
  PerThread perThread(mapping);
  bool divided = work != Work::all;
  Value count = divided ? binary<arith::MulIOp>(groups, tiles) : groups;
  Value perBlock = binary<arith::CeilDivUIOp>(count, mapping.gridBlocks);
  Value begin = binary<arith::MulIOp>(mapping.block, perBlock);
  Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(begin, perBlock), count);
  if (!divided) {
    begin = binary<arith::MulIOp>(begin, tiles);
    end = binary<arith::MulIOp>(end, tiles);
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end, indexConstant(1), scans.neutralOf(scan.op));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  Value task = loop.getInductionVar();
  Tile tile = tileOf(task);
  Value carry = loop.getRegionIterArg(0);
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, tile.number, indexConstant(0));
  if (work == Work::merge) {
    Value isNew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, task, begin);
    isNew = binary<arith::OrIOp>(isNew, isFirst);
    auto branch = scf::IfOp::create(builder, loc, carry.getType(), isNew, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, loc, carryBefore(tile));
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, carry);
    carry = branch.getResult(0);
  } else {
    Value neutral = toMemory(scans.neutralOf(scan.op));
    carry = fromMemory(arith::SelectOp::create(builder, loc, isFirst, neutral, toMemory(carry)),
                       getElementTypeOrSelf(scan.op->getResult(1)));
  }
  FailureOr<Value> next = emitTile(tile, carry);
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  return success();
}

// How many of `all` are left after the first `before`, at most `each`: a constant where all tiles (or all
// groups of chains) have equally many.
static Value partOf(OpBuilder &builder, Location loc, Value all, Value before, Value each) {
  std::optional<int64_t> size = constantOf(all), part = constantOf(each);
  if (size && part && *part > 0 && (*size % *part == 0 || *size <= *part))
    return *size <= *part ? all : each;
  return builder.createOrFold<arith::MinUIOp>(loc, builder.createOrFold<arith::SubIOp>(loc, all, before),
                                              each);
}

ScanTiles::Tile ScanTiles::tileOf(Value task) {
  Tile tile;
  tile.number = binary<arith::RemUIOp>(task, tiles);
  tile.firstChain = binary<arith::MulIOp>(binary<arith::DivUIOp>(task, tiles), chainsOfGroup);
  tile.chains = partOf(builder, loc, chains, tile.firstChain, chainsOfGroup);
  Value each = indexConstant(scan.blocksOfTile);
  tile.blocks = partOf(builder, loc, blocks, binary<arith::MulIOp>(tile.number, each), each);
  tile.count = binary<arith::MulIOp>(tile.chains, tile.blocks);
  return tile;
}

// The running total of the tiles before this one, in the thread that has the chain.
Value ScanTiles::carryBefore(const Tile &tile) {
  Value chain = binary<arith::AddIOp>(tile.firstChain, mapping.threadInBlock);
  Value isPresent =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, mapping.threadInBlock, tile.chains);
  Value count = arith::SelectOp::create(builder, loc, isPresent, tile.number, indexConstant(0));
  Buffer buffer = totalsOfTiles(partialTree.getMemory());
  auto joinFrom = [&](Value lower, Value upper, int64_t unroll, Value start) -> Value {
    auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(unroll), start);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> loaded;
    for (int64_t i = 0; i < unroll; ++i) {
      Value number = binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i));
      loaded.push_back(memoryAccess.load(buffer, inTotals(scan, number, chain)));
    }
    Value sum = loop.getRegionIterArg(0);
    for (Value total : loaded)
      sum = scans.join(scan.op, sum, total);
    scf::YieldOp::create(builder, loc, sum);
    return loop.getResult(0);
  };
  Value rest = binary<arith::RemUIOp>(count, indexConstant(kStepsAtOnce));
  Value middle = binary<arith::SubIOp>(count, rest);
  Value sum = joinFrom(indexConstant(0), middle, kStepsAtOnce, scans.neutralOf(scan.op));
  return joinFrom(middle, count, 1, sum);
}

bool ScanTiles::hasCarries() {
  std::optional<int64_t> known = constantOf(length);
  return !known || *known > scan.block;
}

// Returns the carry into the next tile.
FailureOr<Value> ScanTiles::emitTile(const Tile &tile, Value carry) {
  if (!hasCarries())
    return failed(emitPass(tile, Pass::results)) ? FailureOr<Value>(failure()) : FailureOr<Value>(carry);
  mapping.synchronizeBlock(); // all threads have read the carries before
  if (failed(emitPass(tile, Pass::totals)))
    return failure();
  mapping.synchronizeBlock();
  FailureOr<Value> next = joinTotals(tile, carry);
  if (failed(next) || work == Work::partial)
    return next;
  mapping.synchronizeBlock();
  if (failed(emitPass(tile, Pass::results)))
    return failure();
  return next;
}

// Turns the totals of the blocks of a chain into what each of them is joined to.
FailureOr<Value> ScanTiles::joinTotals(const Tile &tile, Value carry) {
  Value own = mapping.threadInBlock;
  Value chain = binary<arith::AddIOp>(tile.firstChain, own);
  Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, own, tile.chains);
  auto branch = scf::IfOp::create(builder, loc, carry.getType(), isPresent, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, carry);
  builder.setInsertionPointToStart(branch.thenBlock());
  auto numberOf = [&](Value block) -> Value {
    if (scan.isContiguous)
      return binary<arith::AddIOp>(binary<arith::MulIOp>(own, tile.blocks), block);
    return binary<arith::AddIOp>(binary<arith::MulIOp>(block, tile.chains), own);
  };
  auto joinFrom = [&](Value lower, Value upper, int64_t unroll, Value start) -> Value {
    auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(unroll), start);
    OpBuilder::InsertionGuard inside(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> numbers, loaded;
    for (int64_t i = 0; i < unroll; ++i) {
      numbers.push_back(numberOf(binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i))));
      loaded.push_back(loadTotal(numbers.back()));
    }
    Value sum = loop.getRegionIterArg(0);
    for (auto [number, total] : llvm::zip_equal(numbers, loaded)) {
      if (work != Work::partial)
        storeTotal(number, scans.join(scan.op, carry, sum));
      sum = scans.join(scan.op, sum, total);
    }
    scf::YieldOp::create(builder, loc, sum);
    return loop.getResult(0);
  };
  Value middle =
      binary<arith::SubIOp>(tile.blocks, binary<arith::RemUIOp>(tile.blocks, indexConstant(kStepsAtOnce)));
  Value sum = joinFrom(indexConstant(0), middle, kStepsAtOnce, scans.neutralOf(scan.op));
  sum = joinFrom(middle, tile.blocks, 1, sum);
  if (work == Work::partial)
    memoryAccess.store(totalsOfTiles(partialTree.getMemory()), inTotals(scan, tile.number, chain), sum);
  scf::YieldOp::create(builder, loc, scans.join(scan.op, carry, sum));
  return branch.getResult(0);
}
