// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums along rows in the written order: lane l of the order is a chain in thread l / run of a group; the
// halving tree joins chains of a thread that are far apart, then those of threads by shuffles, then
// neighbours in a thread. The chunks of a long row are summed by the groups of a block and joined in shared
// memory.

#include "../SharedMemory.h"
#include "RowEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Of a kept row every index is one value, by which the elements are known in all passes.
void RowEmitter::prepareKeptRuns() {
  kept.clear();
  if (!share.keeps)
    return;
  Value start = binary<arith::MulIOp>(inGroup, indexConstant(share.run));
  for (int64_t offset = 0; offset < rows.length; offset += share.run * share.threads) {
    Value first = binary<arith::AddIOp>(start, indexConstant(offset));
    KeptRun run;
    if (offset + share.run * share.threads > rows.length) {
      run.present =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, first, indexConstant(rows.length));
      first = binary<arith::MinUIOp>(first, indexConstant(rows.length - share.run));
    }
    run.indices = runFrom(first, share.run);
    kept.push_back(run);
  }
}

FailureOr<SmallVector<Value>> RowEmitter::addRun(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                 ArrayRef<Value> indices, ValueRange sums) {
  Spread ofThread(*this);
  SmallVector<Value> next;
  for (auto [index, sum] : llvm::zip_equal(indices, sums)) {
    SmallVector<Index> inner(loops);
    reductions.setReductionIndex(generic, inner, {index, 0, nullptr});
    auto values = evaluator.applyBody(generic, inner, sum);
    if (failed(values))
      return failure();
    next.push_back(values->front());
  }
  return next;
}

// The chains of the lanes that this thread has, in their order; straight code, so that every value is there
// for the next pass.
FailureOr<SmallVector<Value>> RowEmitter::chainsOfKept(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                       Value identity) {
  // Operands that are not in registers yet are loaded before the first of them is used, so that their
  // latencies overlap.
  auto load = [&](Value operand) -> LogicalResult {
    Spread ofThread(*this);
    SmallVector<Position> positions;
    for (const KeptRun &run : kept)
      for (Value index : run.indices) {
        positions.push_back(row);
        positions.back().push_back({index, 0, nullptr});
      }
    return evaluator.evaluate(operand, positions);
  };
  for (Value operand : firstOnWay(generic, [](Value value) { return isa<BlockArgument>(value); }))
    if (!rows.sumsAlong && hasCountedRows(operand) && failed(load(operand)))
      return failure();
  SmallVector<Value> sums(share.run * share.runs, identity);
  for (auto [number, run] : llvm::enumerate(kept)) {
    auto own = MutableArrayRef(sums).slice(number % share.runs * share.run, share.run);
    auto next = addRun(generic, loops, run.indices, ValueRange(ArrayRef<Value>(own)));
    if (failed(next))
      return failure();
    for (auto [sum, added] : llvm::zip_equal(own, *next))
      sum = run.present ? arith::SelectOp::create(builder, loc, run.present, added, sum).getResult() : added;
  }
  return sums;
}

FailureOr<SmallVector<Value>> RowEmitter::chainsOfLoop(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                       Value identity, Value lower, Value upper) {
  SmallVector<Value> sums;
  Value start = binary<arith::AddIOp>(lower, binary<arith::MulIOp>(inGroup, indexConstant(share.run)));
  for (int64_t number = 0; number < share.runs; ++number) {
    Value first = binary<arith::AddIOp>(start, indexConstant(number * share.run * share.threads));
    SmallVector<Value> identities(share.run, identity);
    auto loop = scf::ForOp::create(builder, loc, first, upper, indexConstant(share.stripe()), identities);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Scope scope(*this);
    auto next = addRun(generic, loops, runFrom(loop.getInductionVar(), share.run), loop.getRegionIterArgs());
    if (failed(next))
      return failure();
    scf::YieldOp::create(builder, loc, *next);
    llvm::append_range(sums, loop.getResults());
  }
  return sums;
}

void RowEmitter::markAbsent(linalg::GenericOp generic, MutableArrayRef<Value> sums, Value lower,
                            Value upper) {
  Value size = binary<arith::SubIOp>(upper, lower);
  Value first = binary<arith::MulIOp>(inGroup, indexConstant(share.run));
  for (auto [number, sum] : llvm::enumerate(sums)) {
    int64_t offset = number / share.run * share.run * share.threads + number % share.run;
    Value ofLane = binary<arith::AddIOp>(first, indexConstant(offset));
    sum = keptByJoins(generic, sum, ofLane, size, share.stripe());
  }
}

Value RowEmitter::joinLanes(Operation *join, SmallVector<Value> sums) {
  auto halve = [&](size_t least) {
    for (size_t half = sums.size() / 2; half >= least; half /= 2) {
      for (size_t i = 0; i < half; ++i)
        sums[i] = reductions.joinValues(join, sums[i], sums[i + half]);
      sums.resize(half);
    }
  };
  halve(share.run);
  for (int64_t distance = share.threads / 2; distance >= 1; distance /= 2)
    for (Value &sum : sums)
      sum = reductions.joinValues(join, sum, shuffle(sum, distance));
  halve(1);
  return sums.front();
}

FailureOr<Value> RowEmitter::laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                       Value lower, Value upper, int64_t lanes) {
  if (spread)
    return RunEmitter::laneChunk(generic, loops, identity, lower, upper, lanes);
  if (failed(hoisting.hoistReduced(generic, loops)))
    return failure();
  auto sums = share.keeps ? chainsOfKept(generic, loops, identity)
                          : chainsOfLoop(generic, loops, identity, lower, upper);
  if (failed(sums))
    return failure();
  markAbsent(generic, *sums, lower, upper);
  return joinLanes(combiningOp(generic), *sums);
}

// Chunks that a block sums at once are a subtree of the tree over all of them.
FailureOr<Value> RowEmitter::reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                         const Position &position) {
  if (!byBlock || spread)
    return RunEmitter::reduceLanes(generic, loops, identity, position);
  // Where the groups go different ways, no sum of the whole block may begin.
  if (failed(hoisting.hoistReduced(generic, loops)) || (share.brings && failed(fillLines(generic))))
    return failure();
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  Value total = reductions.loopSize(generic, reduced.front());
  auto chunks = [&](Value lower, Value upper) -> FailureOr<SmallVector<Value>> {
    FailureOr<Value> sum = sumChunks(generic, loops, identity, lower, upper);
    if (failed(sum))
      return failure();
    return SmallVector<Value>{*sum};
  };
  int64_t length = kChunksTogether * kernel.getOrderAttr().getLength();
  auto sums = reductions.pairwiseTree(total, length, identity, combiningOp(generic), chunks);
  if (failed(sums))
    return failure();
  return sums->front();
}

Value RowEmitter::chunkPointer(Value number, Type type) {
  Value bytes = binary<arith::MulIOp>(number, indexConstant(memoryBytes(type)));
  return bytesBehind(builder, loc, shared, bytes);
}

FailureOr<Value> RowEmitter::sumChunks(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                       Value lower, Value upper) {
  OrderAttr order = kernel.getOrderAttr();
  Value length = indexConstant(order.getLength()), each = indexConstant(kWarpThreads / share.threads);
  Value size = binary<arith::SubIOp>(upper, lower);
  Value count =
      binary<arith::MaxUIOp>(builder.createOrFold<arith::CeilDivUIOp>(loc, size, length), indexConstant(1));
  Value warpSize = indexConstant(kWarpThreads);
  Value first = binary<arith::MulIOp>(binary<arith::DivUIOp>(inBlock, warpSize), each);
  Value step = binary<arith::MulIOp>(binary<arith::DivUIOp>(blockThreads, warpSize), each);
  Type type = identity.getType();
  synchronizeBlock(); // what was there has been read
  LogicalResult summed = emitLoop(first, count, step, [&](Value ofWarp) -> LogicalResult {
    Value number = binary<arith::AddIOp>(ofWarp, groupOfWarp);
    Value begin = binary<arith::AddIOp>(lower, binary<arith::MulIOp>(number, length));
    begin = binary<arith::MinUIOp>(begin, upper);
    Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(begin, length), upper);
    FailureOr<Value> sum =
        laneChunk(generic, SmallVector<Index>(loops), identity, begin, end, order.getLanes());
    if (failed(sum))
      return failure();
    Value has = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, count);
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, inGroup, indexConstant(0));
    auto branch = scf::IfOp::create(builder, loc, binary<arith::AndIOp>(has, isFirst));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    LLVM::StoreOp::create(builder, loc, memoryAccess.toMemory(*sum), chunkPointer(number, type),
                          memoryBytes(type));
    return success();
  });
  if (failed(summed))
    return failure();
  synchronizeBlock();
  joinChunks(combiningOp(generic), count, type);
  Value sum = LLVM::LoadOp::create(builder, loc, memoryType(type), chunkPointer(indexConstant(0), type),
                                   memoryBytes(type));
  return memoryAccess.fromMemory(sum, type);
}

// Neighbours first; what has none is its own join.
void RowEmitter::joinChunks(Operation *join, Value count, Type type) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(count));
  auto load = [&](Value number) {
    Value memory =
        LLVM::LoadOp::create(builder, loc, memoryType(type), chunkPointer(number, type), memoryBytes(type));
    return memoryAccess.fromMemory(memory, type);
  };
  for (int64_t distance = 1; distance < known.value_or(kChunksTogether); distance *= 2) {
    Value apart = indexConstant(distance), pair = indexConstant(2 * distance);
    Value pairs = binary<arith::SubIOp>(binary<arith::MaxUIOp>(count, apart), apart);
    LogicalResult joined = emitLoop(binary<arith::MulIOp>(inBlock, pair), pairs,
                                    binary<arith::MulIOp>(blockThreads, pair), [&](Value left) {
                                      Value sum = reductions.joinValues(
                                          join, load(left), load(binary<arith::AddIOp>(left, apart)));
                                      LLVM::StoreOp::create(builder, loc, memoryAccess.toMemory(sum),
                                                            chunkPointer(left, type), memoryBytes(type));
                                      return success();
                                    });
    assert(succeeded(joined) && "joins emit no code that can fail");
    (void)joined;
    synchronizeBlock();
  }
}
