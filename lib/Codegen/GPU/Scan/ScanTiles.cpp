// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ScanTiles.h"
#include "../Generic/PartialSizes.h"
#include "../Generic/SharedMemory.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Elements of a column that a thread loads before it combines the first one, and totals.
static constexpr int64_t kUnroll = 32;
// Rows of a square, some of whose elements are not there, that a thread loads at once.
static constexpr int64_t kRowsOfPart = 8;
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

// The number is known where all tiles, or all groups, have as many.
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
  Value rest = binary<arith::RemUIOp>(count, indexConstant(kUnroll));
  Value middle = binary<arith::SubIOp>(count, rest);
  Value sum = joinFrom(indexConstant(0), middle, kUnroll, scans.neutralOf(scan.op));
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
      binary<arith::SubIOp>(tile.blocks, binary<arith::RemUIOp>(tile.blocks, indexConstant(kUnroll)));
  Value sum = joinFrom(indexConstant(0), middle, kUnroll, scans.neutralOf(scan.op));
  sum = joinFrom(middle, tile.blocks, 1, sum);
  if (work == Work::partial)
    memoryAccess.store(totalsOfTiles(partialTree.getMemory()), inTotals(scan, tile.number, chain), sum);
  scf::YieldOp::create(builder, loc, scans.join(scan.op, carry, sum));
  return branch.getResult(0);
}

//===- Blocks -------------------------------------------------------------===//

LogicalResult ScanTiles::emitPass(const Tile &tile, Pass pass) {
  return scan.isContiguous ? emitRows(tile, pass) : emitColumns(tile, pass);
}

// Numbers of blocks are short.
static std::pair<Value, Value> divideShort(OpBuilder &builder, Location loc, Value number, Value by) {
  Type word = builder.getI32Type(), index = builder.getIndexType();
  Value shortNumber = builder.createOrFold<arith::IndexCastOp>(loc, word, number);
  Value shortBy = builder.createOrFold<arith::IndexCastOp>(loc, word, by);
  Value quotient = builder.createOrFold<arith::DivUIOp>(loc, shortNumber, shortBy);
  Value rest = builder.createOrFold<arith::RemUIOp>(loc, shortNumber, shortBy);
  return {builder.createOrFold<arith::IndexCastOp>(loc, index, quotient),
          builder.createOrFold<arith::IndexCastOp>(loc, index, rest)};
}

// Adjacent threads have adjacent blocks of a chain where it is contiguous, else adjacent chains.
ScanTiles::Block ScanTiles::blockAt(const Tile &tile, Value first, int64_t offset) {
  Value by = scan.isContiguous ? tile.blocks : tile.chains;
  std::optional<int64_t> known = constantOf(by);
  bool isOneChain = scan.isContiguous && constantOf(tile.chains) == 1;
  // Offsets that stay in one part, or are whole parts, are the same in all warps.
  int64_t outerOffset = 0, innerOffset = 0;
  if (isOneChain || (known && *known % kStepsOfSquare == 0)) {
    innerOffset = offset;
  } else if (known && kStepsOfSquare % *known == 0) {
    outerOffset = offset / *known;
    innerOffset = offset % *known;
  } else if (offset != 0) {
    first = binary<arith::AddIOp>(first, indexConstant(offset));
  }
  auto [outer, inner] =
      isOneChain ? std::pair<Value, Value>(indexConstant(0), first) : divideShort(builder, loc, first, by);
  Block found;
  auto ofChain = [&](Value chain, int64_t distance) {
    chain = binary<arith::AddIOp>(tile.firstChain, chain);
    return binary<arith::AddIOp>(chain, indexConstant(distance));
  };
  found.chain = scan.isContiguous ? ofChain(outer, outerOffset) : ofChain(inner, innerOffset);
  Value block = binary<arith::AddIOp>(scan.isContiguous ? inner : outer,
                                      binary<arith::MulIOp>(tile.number, indexConstant(scan.blocksOfTile)));
  found.lower = binary<arith::MulIOp>(block, indexConstant(scan.block));
  found.offset = (scan.isContiguous ? innerOffset : outerOffset) * scan.block;
  return found;
}

Value ScanTiles::lowerOf(const Block &block) {
  return binary<arith::AddIOp>(block.lower, indexConstant(block.offset));
}

// The distance comes last, for the constant part of an address.
Value ScanTiles::stepOf(const Block &block, Value step) {
  return binary<arith::AddIOp>(binary<arith::AddIOp>(block.lower, step), indexConstant(block.offset));
}

Value ScanTiles::upperOf(const Block &block) {
  return binary<arith::MinUIOp>(binary<arith::AddIOp>(lowerOf(block), indexConstant(scan.block)), length);
}

SmallVector<Index> ScanTiles::loopsOf(Value chain, Value step) {
  SmallVector<Index> loops =
      scans.loopsOf(scan.op, mapping.positionOfElement(chain, scans.nestOverChains(scan.op).sizes));
  loops[scannedDim(scan.op)] = {step, 0, nullptr};
  return loops;
}

// A chain starts from its outs in its first block only.
FailureOr<Value> ScanTiles::startOf(const Block &block) {
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lowerOf(block), indexConstant(0));
  Value neutral = scans.neutralOf(scan.op);
  FailureOr<Value> start =
      scans.startOf(scan.op, mapping.positionOfElement(block.chain, scans.nestOverChains(scan.op).sizes));
  if (failed(start))
    return failure();
  Value chosen = arith::SelectOp::create(builder, loc, isFirst, toMemory(*start), toMemory(neutral));
  return fromMemory(chosen, neutral.getType());
}

Value ScanTiles::operandOfCombiner() {
  Value accumulator = linalg::GenericOp(scan.op).getRegionOutputArgs().back();
  for (Value operand : combiningOp(scan.op)->getOperands())
    if (operand != accumulator)
      return operand;
  llvm_unreachable("the match has found a value that is combined");
}

FailureOr<Value> ScanTiles::valueAt(ArrayRef<Index> loops) {
  auto value = evaluator.evaluateBody(scan.op, loops, IRMapping(), operandOfCombiner());
  if (failed(value))
    return failure();
  return value->front();
}

// The same operation as in the body, on a value that was computed before.
Value ScanTiles::combine(Value accumulator, Value value) {
  IRMapping known;
  known.map(linalg::GenericOp(scan.op).getRegionOutputArgs().back(), accumulator);
  known.map(operandOfCombiner(), value);
  return builder.clone(*combiningOp(scan.op), known)->getResult(0);
}

//===- Adjacent threads have adjacent chains ------------------------------===//

LogicalResult ScanTiles::emitColumns(const Tile &tile, Pass pass) {
  return emitLoop(
      mapping.threadInBlock, tile.count, mapping.blockThreads, [&](Value number) -> LogicalResult {
        Block block = blockAt(tile, number);
        FailureOr<Value> start = startOf(block);
        if (failed(start))
          return failure();
        Value carry = pass == Pass::results && hasCarries() ? loadTotal(number) : Value();
        Value lower = lowerOf(block), upper = upperOf(block);
        Value rest = binary<arith::RemUIOp>(binary<arith::SubIOp>(upper, lower), indexConstant(kUnroll));
        Value middle = binary<arith::SubIOp>(upper, rest);
        FailureOr<Value> sum = columnSteps(block, pass, carry, *start, lower, middle, kUnroll);
        if (succeeded(sum))
          sum = columnSteps(block, pass, carry, *sum, middle, upper, 1);
        if (failed(sum))
          return failure();
        if (pass == Pass::totals)
          storeTotal(number, *sum);
        return success();
      });
}

// The loads of an iteration come first, and its stores last.
FailureOr<Value> ScanTiles::columnSteps(const Block &block, Pass pass, Value carry, Value start, Value lower,
                                        Value upper, int64_t unroll) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(unroll), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  SmallVector<SmallVector<Index>> steps;
  for (int64_t i = 0; i < unroll; ++i)
    steps.push_back(loopsOf(block.chain, binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i))));
  if (failed(evaluator.loadFirst(scan.op, steps)))
    return failure();
  SmallVector<Value> results;
  Value accumulator = loop.getRegionIterArg(0);
  for (const SmallVector<Index> &step : steps) {
    FailureOr<Value> next = scans.nextOf(scan.op, step, accumulator);
    if (failed(next))
      return failure();
    if (pass == Pass::results) {
      FailureOr<Value> result = scans.resultOf(scan.op, step, carry, accumulator, *next);
      if (failed(result))
        return failure();
      results.push_back(*result);
    }
    accumulator = *next;
  }
  for (auto [step, result] : llvm::zip(steps, results))
    memoryAccess.store(this->results.front(), maps.apply(stepMapOf(scan.op), step), result);
  scf::YieldOp::create(builder, loc, accumulator);
  return loop.getResult(0);
}

//===- Chains that are contiguous in memory -------------------------------===//

// A warp has 32 blocks at a time, in squares of 32 steps. Threads after the last block repeat it.
LogicalResult ScanTiles::emitRows(const Tile &tile, Pass pass) {
  Value warp = binary<arith::SubIOp>(mapping.threadInBlock, mapping.lane);
  Value last = binary<arith::SubIOp>(tile.count, indexConstant(1));
  return emitLoop(warp, tile.count, mapping.blockThreads, [&](Value first) -> LogicalResult {
    Value number = binary<arith::MinUIOp>(binary<arith::AddIOp>(first, mapping.lane), last);
    FailureOr<Value> start = startOf(blockAt(tile, number));
    if (failed(start))
      return failure();
    Value carry = pass == Pass::results && hasCarries() ? loadTotal(number) : Value();
    auto loop = scf::ForOp::create(builder, loc, indexConstant(0),
                                   binary<arith::MinUIOp>(length, indexConstant(scan.block)),
                                   indexConstant(kStepsOfSquare), *start);
    {
      OpBuilder::InsertionGuard inside(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Scope scope(*this);
      FailureOr<Value> next =
          emitSquare(tile, pass, first, loop.getInductionVar(), carry, loop.getRegionIterArg(0));
      if (failed(next))
        return failure();
      scf::YieldOp::create(builder, loc, *next);
    }
    if (pass == Pass::results)
      return success();
    Value isPresent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                            binary<arith::AddIOp>(first, mapping.lane), tile.count);
    return emitIf(isPresent, [&] {
      storeTotal(number, loop.getResult(0));
      return success();
    });
  });
}

FailureOr<Value> ScanTiles::emitSquare(const Tile &tile, Pass pass, Value first, Value step, Value carry,
                                       Value accumulator) {
  mapping.synchronizeWarp(); // all threads have read the square before
  if (failed(loadSquare(tile, first, step)))
    return failure();
  mapping.synchronizeWarp();
  Type element = accumulator.getType(), memory = memoryType(element);
  SmallVector<Value> values;
  for (int64_t i = 0; i < kStepsOfSquare; ++i) {
    Value address = addressInSquare(mapping.lane, indexConstant(i));
    values.push_back(
        fromMemory(LLVM::LoadOp::create(builder, loc, memory, address, memoryBytes(memory)), element));
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    Value next = combine(accumulator, value);
    if (pass == Pass::results) {
      Value kept = toMemory(scans.join(scan.op, carry, scan.readsBefore ? accumulator : next));
      LLVM::StoreOp::create(builder, loc, kept, addressInSquare(mapping.lane, indexConstant(i)),
                            memoryBytes(memory));
    }
    accumulator = next;
  }
  if (pass == Pass::results) {
    mapping.synchronizeWarp();
    if (failed(storeSquare(tile, first, step)))
      return failure();
  }
  return accumulator;
}

static bool isMultiple(Value number, int64_t of) {
  std::optional<int64_t> known = constantOf(number);
  return known && *known % of == 0;
}

// Whether the square has 32 blocks and 32 steps of each. Null: all have.
Value ScanTiles::isWhole(const Tile &tile, Value first, Value step) {
  bool allBlocks = isMultiple(tile.count, kStepsOfSquare), allSteps = isMultiple(length, scan.block);
  if (allBlocks && allSteps)
    return nullptr;
  Value last = binary<arith::AddIOp>(first, indexConstant(kStepsOfSquare - 1));
  Value hasBlocks = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, last, tile.count);
  Value shortest;
  if (constantOf(tile.chains) == 1) {
    Block block = blockAt(tile, first, kStepsOfSquare - 1);
    shortest = binary<arith::SubIOp>(upperOf(block), lowerOf(block));
  } else { // the last block of the tile
    Value block = binary<arith::AddIOp>(binary<arith::MulIOp>(tile.number, indexConstant(scan.blocksOfTile)),
                                        binary<arith::SubIOp>(tile.blocks, indexConstant(1)));
    shortest = binary<arith::MinUIOp>(
        binary<arith::SubIOp>(length, binary<arith::MulIOp>(block, indexConstant(scan.block))),
        indexConstant(scan.block));
  }
  Value end = binary<arith::AddIOp>(step, indexConstant(kStepsOfSquare));
  Value hasSteps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, end, shortest);
  return binary<arith::AndIOp>(hasBlocks, hasSteps);
}

// Without a branch: instead of an element that is not there, the thread loads the last one of the block, or
// of the last block. The neutral element in its place changes no total.
FailureOr<Value> ScanTiles::loadPresent(const Tile &tile, Value number, Value step) {
  Value last = binary<arith::SubIOp>(tile.count, indexConstant(1));
  Block block = blockAt(tile, binary<arith::MinUIOp>(number, last));
  Value at = binary<arith::AddIOp>(lowerOf(block), step), upper = upperOf(block);
  Value isPresent = binary<arith::AndIOp>(
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, tile.count),
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, upper));
  at = binary<arith::MinUIOp>(at, binary<arith::SubIOp>(upper, indexConstant(1)));
  FailureOr<Value> value = valueAt(loopsOf(block.chain, at));
  if (failed(value))
    return failure();
  Value chosen =
      arith::SelectOp::create(builder, loc, isPresent, toMemory(*value), toMemory(scans.neutralOf(scan.op)));
  return fromMemory(chosen, value->getType());
}

// Lane l loads step l of the blocks `first` to `first + count`, all of them before it stores the first one.
LogicalResult ScanTiles::loadBlocks(const Tile &tile, Value first, Value row, int64_t count, Value own,
                                    bool whole) {
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) {
    FailureOr<Value> value;
    if (whole) {
      Block block = blockAt(tile, first, i);
      value = valueAt(loopsOf(block.chain, stepOf(block, own)));
    } else {
      Value number = binary<arith::AddIOp>(binary<arith::AddIOp>(first, row), indexConstant(i));
      value = loadPresent(tile, number, own);
    }
    if (failed(value))
      return failure();
    values.push_back(toMemory(*value));
  }
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(builder, loc, value,
                          addressInSquare(binary<arith::AddIOp>(row, indexConstant(i)), mapping.lane),
                          memoryBytes(value.getType()));
  return success();
}

// The square at once if it is whole; else in parts, whose numbers and conditions fit into registers.
LogicalResult ScanTiles::overSquare(Value isWhole, function_ref<LogicalResult(Value, int64_t, bool)> code) {
  return emitIfAllowed(
      isWhole, [&] { return code(indexConstant(0), kStepsOfSquare, true); },
      [&] {
        return emitLoop(indexConstant(0), indexConstant(kStepsOfSquare), indexConstant(kRowsOfPart),
                        [&](Value row) { return code(row, kRowsOfPart, false); });
      });
}

LogicalResult ScanTiles::loadSquare(const Tile &tile, Value first, Value step) {
  Value own = binary<arith::AddIOp>(step, mapping.lane);
  return overSquare(isWhole(tile, first, step), [&](Value row, int64_t count, bool whole) {
    return loadBlocks(tile, first, row, count, own, whole);
  });
}

LogicalResult ScanTiles::storeAt(const Block &block, Value at, Value kept) {
  linalg::GenericOp op = scan.op;
  Operation *yield = op.getBlock()->getTerminator();
  SmallVector<Index> loops = loopsOf(block.chain, at);
  IRMapping known;
  known.map(op.getRegionOutputArgs().back(), kept);
  known.map(yield->getOperand(1), kept);
  auto result = evaluator.evaluateBody(op, loops, known, yield->getOperand(0));
  if (failed(result))
    return failure();
  memoryAccess.store(results.front(), maps.apply(stepMapOf(op), loops), result->front());
  return success();
}

LogicalResult ScanTiles::storeBlocks(const Tile &tile, Value first, Value row, int64_t count, Value own,
                                     bool whole) {
  Type element = getElementTypeOrSelf(scan.op->getResult(1)), memory = memoryType(element);
  SmallVector<Value> kept;
  for (int64_t i = 0; i < count; ++i) {
    Value address = addressInSquare(binary<arith::AddIOp>(row, indexConstant(i)), mapping.lane);
    Value value = LLVM::LoadOp::create(builder, loc, memory, address, memoryBytes(memory));
    kept.push_back(fromMemory(value, element));
  }
  for (auto [i, value] : llvm::enumerate(kept)) {
    if (whole) {
      Block block = blockAt(tile, first, i);
      if (failed(storeAt(block, stepOf(block, own), value)))
        return failure();
      continue;
    }
    Value number = binary<arith::AddIOp>(binary<arith::AddIOp>(first, row), indexConstant(i));
    Block block = blockAt(tile, number);
    Value at = stepOf(block, own);
    Value isPresent = binary<arith::AndIOp>(
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, tile.count),
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, upperOf(block)));
    if (failed(emitIf(isPresent, [&, value = value] { return storeAt(block, at, value); })))
      return failure();
  }
  return success();
}

LogicalResult ScanTiles::storeSquare(const Tile &tile, Value first, Value step) {
  Value own = binary<arith::AddIOp>(step, mapping.lane);
  return overSquare(isWhole(tile, first, step), [&](Value row, int64_t count, bool whole) {
    return storeBlocks(tile, first, row, count, own, whole);
  });
}

//===- Sizes of divided tiles ---------------------------------------------===//

FailureOr<bool> ScanSizes::emitSizes() {
  if (failed(bindArguments()))
    return failure();
  layOut();
  Buffer totals = totalsOfTiles(Value());
  Value count = binary<arith::MulIOp>(totals.sizes[0], totals.sizes[1]);
  Value bytes = binary<arith::MulIOp>(count, indexConstant(memoryBytes(totals.element)));
  int64_t blockThreads = scan.isContiguous ? kThreadsOfRows : kBlockThreads;
  Value threads = binary<arith::MulIOp>(binary<arith::MulIOp>(groups, tiles), indexConstant(blockThreads));
  Value divides = indexConstant(1);
  if (!division.always) {
    Value enough = binary<arith::MulIOp>(smCount, indexConstant(kMinBlocksPerSM));
    Value areFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, groups, enough);
    Value areLong = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, tiles, indexConstant(1));
    divides = arith::SelectOp::create(builder, loc, binary<arith::AndIOp>(areFew, areLong), divides,
                                      indexConstant(0));
  }
  func::ReturnOp::create(builder, loc, ValueRange{divides, bytes, threads});
  return readsNoOperand(host);
}
