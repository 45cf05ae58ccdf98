// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One chain of each thread of a warp: a pipeline of copies into shared memory, and the steps that have
// arrived.

#include "../Generic/SharedMemory.h"
#include "ColumnRunEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Steps that a thread loads from shared memory before it combines the first one, and operations of that code.
static constexpr int64_t kMaxUnroll = 32, kUnrollOfRest = 8, kMaxUnrolledOps = 512;

Value ColumnRunEmitter::wide(Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

Value ColumnRunEmitter::addWide(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                             ValueRange{bytes});
}

// Of the chunk, in shared memory.
Value ColumnRunEmitter::stageAt(const Stages &stages, Value chunk) {
  Value offset = binary<arith::MulIOp>(binary<arith::RemUIOp>(chunk, indexConstant(kStages)),
                                       indexConstant(stages.bytes));
  return addBytes(builder, loc, shared,
                  binary<arith::AddIOp>(offset, indexConstant(runs.runsOfWarp() * kBoundsBytes)));
}

// While a chunk is combined, the copies of the next ones are under way.
FailureOr<SmallVector<Value>> ColumnRunEmitter::emitChain(const Chain &chain) {
  const Stages &stages = stagesOf[chain.reduction];
  Value first = firstElement(chain, stages.operands.front());
  mapping.synchronizeWarp(); // all threads have read the runs before
  if (failed(describeRuns(chain, first)))
    return failure();
  mapping.synchronizeWarp();
  SmallVector<Piece> pieces;
  for (const Staged &staged : stages.operands)
    addPieces(staged, pieces);
  SmallVector<Value> inStage = columnsInStage(stages, first);
  Value chunks = binary<arith::CeilDivUIOp>(chain.longest, indexConstant(stages.steps));
  Value ahead = indexConstant(kStages - 1);
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), binary<arith::AddIOp>(chunks, ahead),
                                 indexConstant(1), chain.start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  Value next = loop.getInductionVar();
  // After the barrier the copies of all threads have arrived, and no thread reads the stage that is next.
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, kStages - 2);
  mapping.synchronizeWarp();
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, next, chunks);
  if (failed(emitIf(isThere, [&] { return copyChunk(stages, pieces, next); })))
    return failure();
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  Value hasArrived = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, next, ahead);
  auto sums = combineChunk(chain, stages, binary<arith::SubIOp>(next, ahead), hasArrived, inStage,
                           loop.getRegionIterArgs());
  if (failed(sums))
    return failure();
  scf::YieldOp::create(builder, loc, *sums);
  return SmallVector<Value>(loop.getResults());
}

// Where the thread's column of its run begins in a stage, for each operand.
SmallVector<Value> ColumnRunEmitter::columnsInStage(const Stages &stages, Value first) {
  SmallVector<Value> offsets;
  for (const Staged &staged : stages.operands) {
    Value elementBytes = indexConstant(staged.elementBytes);
    Value offset = binary<arith::AddIOp>(binary<arith::MulIOp>(run, indexConstant(staged.pitch)),
                                         binary<arith::MulIOp>(column, elementBytes));
    if (!staged.isAligned)
      offset =
          binary<arith::AddIOp>(offset, binary<arith::RemUIOp>(binary<arith::MulIOp>(first, elementBytes),
                                                               indexConstant(kChunkBytes)));
    offsets.push_back(binary<arith::AddIOp>(offset, indexConstant(staged.offset)));
  }
  return offsets;
}

// Of the thread's run, by its number in memory: every staged operand has the same shape.
Value ColumnRunEmitter::firstElement(const Chain &chain, const Staged &staged) {
  SmallVector<Index> loops(chain.loops);
  reductionLoops.setIndex(chain.reduction, loops, {chain.begin, 0, nullptr});
  int64_t step;
  Value vector;
  const Buffer &buffer = buffers.find(staged.operand.argument)->second;
  Value own = memoryAccess.linearIndex(buffer, maps.apply(staged.operand.map, loops), step, vector);
  return binary<arith::SubIOp>(own, column);
}

// The first thread of each run says where it begins and ends.
LogicalResult ColumnRunEmitter::describeRuns(const Chain &chain, Value first) {
  Value steps = binary<arith::SubIOp>(chain.end, chain.begin);
  Value end = binary<arith::AddIOp>(first, binary<arith::MulIOp>(steps, indexConstant(runs.columns)));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, column, indexConstant(0));
  if (runs.chainsOfWarp() < kWarpThreads)
    isFirst = binary<arith::AndIOp>(isFirst,
                                    arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                                          mapping.lane, indexConstant(runs.chainsOfWarp())));
  return emitIf(isFirst, [&] {
    Value bounds = addBytes(builder, loc, shared, binary<arith::MulIOp>(run, indexConstant(kBoundsBytes)));
    LLVM::StoreOp::create(builder, loc, wide(first), bounds, kWordBytes);
    LLVM::StoreOp::create(builder, loc, wide(end), addBytes(builder, loc, bounds, indexConstant(kWordBytes)),
                          kWordBytes);
    return success();
  });
}

// What the thread copies of each chunk: adjacent threads have adjacent pieces of a run. They begin at
// multiples of their size, before the run where it begins between two, and nothing after its end is read.
void ColumnRunEmitter::addPieces(const Staged &staged, SmallVectorImpl<Piece> &pieces) {
  auto wideConstant = [&](int64_t number) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), number);
  };
  int64_t count = runs.runsOfWarp() * staged.copies();
  for (int64_t i = 0; i < count; i += kWarpThreads) {
    Piece piece{&staged};
    Value number = binary<arith::AddIOp>(mapping.lane, indexConstant(i));
    if (i + kWarpThreads > count) {
      piece.isThere =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, indexConstant(count));
      number = binary<arith::MinUIOp>(number, indexConstant(count - 1));
    }
    auto [run, inRun] = divide(number, staged.copies());
    inRun = binary<arith::MulIOp>(inRun, indexConstant(kChunkBytes));
    Value bounds = addBytes(builder, loc, shared, binary<arith::MulIOp>(run, indexConstant(kBoundsBytes)));
    auto boundAt = [&](Value address) {
      Value element = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), address, kWordBytes);
      return binary<arith::MulIOp>(element, wideConstant(staged.elementBytes));
    };
    Value begin = boundAt(bounds), end = boundAt(addBytes(builder, loc, bounds, indexConstant(kWordBytes)));
    begin = binary<arith::AndIOp>(begin, wideConstant(-kChunkBytes));
    begin = binary<arith::AddIOp>(begin, wide(inRun));
    Value bytes = binary<arith::MaxSIOp>(binary<arith::SubIOp>(end, begin), wideConstant(0));
    Value more = binary<arith::AddIOp>(bytes, wideConstant(staged.chunkBytes - kChunkBytes));
    Value whole = binary<arith::DivUIOp>(more, wideConstant(staged.chunkBytes));
    Value rest = binary<arith::SubIOp>(bytes, binary<arith::MulIOp>(whole, wideConstant(staged.chunkBytes)));
    rest = binary<arith::MaxSIOp>(rest, wideConstant(0));
    piece.rest = arith::TruncIOp::create(builder, loc, builder.getI32Type(), rest);
    piece.whole = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), whole);
    piece.source = addWide(buffers.find(staged.operand.argument)->second.pointer, begin);
    Value target = binary<arith::AddIOp>(binary<arith::MulIOp>(run, indexConstant(staged.pitch)), inRun);
    piece.target = binary<arith::AddIOp>(target, indexConstant(staged.offset));
    pieces.push_back(piece);
  }
}

LogicalResult ColumnRunEmitter::copyChunk(const Stages &stages, ArrayRef<Piece> pieces, Value chunk) {
  Value stage = stageAt(stages, chunk);
  auto number = [&](int64_t count) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), count);
  };
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  for (const Piece &piece : pieces) {
    auto copy = [&] {
      Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, chunk, piece.whole);
      Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, chunk, piece.whole);
      Value size = arith::SelectOp::create(builder, loc, isLast, piece.rest, number(0));
      size = arith::SelectOp::create(builder, loc, isWhole, number(kChunkBytes), size);
      Value before = arith::MulIOp::create(
          builder, loc, wide(chunk),
          arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), piece.staged->chunkBytes));
      Value source = LLVM::AddrSpaceCastOp::create(builder, loc, global, addWide(piece.source, before));
      NVVM::CpAsyncOp::create(builder, loc, addBytes(builder, loc, stage, piece.target), source, kChunkBytes,
                              NVVM::LoadCacheModifierKind::CG, size);
      return success();
    };
    if (failed(emitIfAllowed(piece.isThere, copy, nullptr)))
      return failure();
  }
  return success();
}

// Steps that are combined at once.
int64_t ColumnRunEmitter::unrollOf(const Stages &stages) {
  int64_t operations = 1;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    operations += llvm::range_size(*generic.getBlock());
  int64_t most = llvm::bit_floor<uint64_t>(std::max<int64_t>(kMaxUnrolledOps / operations, 1));
  return std::min({stages.steps, kMaxUnroll, most});
}

// The thread's steps of a chunk. Almost all chunks have all steps, whose code has no other bounds.
FailureOr<SmallVector<Value>> ColumnRunEmitter::combineChunk(const Chain &chain, const Stages &stages,
                                                             Value chunk, Value hasArrived,
                                                             ArrayRef<Value> inStage,
                                                             ValueRange accumulators) {
  Value zero = indexConstant(0), most = indexConstant(stages.steps), stage = stageAt(stages, chunk);
  Value first = binary<arith::AddIOp>(chain.begin, binary<arith::MulIOp>(chunk, most));
  Value left = binary<arith::SubIOp>(binary<arith::MaxUIOp>(chain.end, first), first);
  left = arith::SelectOp::create(builder, loc, hasArrived, left, zero);
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, left, most);
  SmallVector<Value> addresses;
  for (Value offset : inStage)
    addresses.push_back(addBytes(builder, loc, stage, offset));
  int64_t unroll = unrollOf(stages), ofRest = std::min(unroll, kUnrollOfRest);
  auto branch = scf::IfOp::create(builder, loc, accumulators.getTypes(), isWhole, /*withElseRegion=*/true);
  auto emitInto = [&](Block *block, function_ref<FailureOr<SmallVector<Value>>()> code) -> LogicalResult {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(block);
    Scope scope(*this);
    FailureOr<SmallVector<Value>> sums = code();
    if (succeeded(sums))
      scf::YieldOp::create(builder, loc, *sums);
    return sums;
  };
  auto whole = [&] {
    return combineSteps(chain, stages, first, addresses, zero, most, unroll, accumulators);
  };
  auto rest = [&]() -> FailureOr<SmallVector<Value>> {
    Value middle = binary<arith::SubIOp>(left, binary<arith::RemUIOp>(left, indexConstant(ofRest)));
    auto sums = combineSteps(chain, stages, first, addresses, zero, middle, ofRest, accumulators);
    return failed(sums) ? sums : combineSteps(chain, stages, first, addresses, middle, left, 1, *sums);
  };
  if (failed(emitInto(branch.thenBlock(), whole)) || failed(emitInto(branch.elseBlock(), rest)))
    return failure();
  return SmallVector<Value>(branch.getResults());
}

FailureOr<SmallVector<Value>> ColumnRunEmitter::combineSteps(const Chain &chain, const Stages &stages,
                                                             Value first, ArrayRef<Value> addresses,
                                                             Value lower, Value upper, int64_t unroll,
                                                             ValueRange accumulators) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(unroll), accumulators);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  SmallVector<Value> next(loop.getRegionIterArgs()), steps;
  for (int64_t i = 0; i < unroll; ++i)
    steps.push_back(
        binary<arith::AddIOp>(binary<arith::AddIOp>(first, loop.getInductionVar()), indexConstant(i)));
  for (auto [staged, address] : llvm::zip_equal(stages.operands, addresses)) {
    int64_t stride = runs.columns * staged.elementBytes;
    Value begin =
        addBytes(builder, loc, address, binary<arith::MulIOp>(loop.getInductionVar(), indexConstant(stride)));
    Type element = buffers.find(staged.operand.argument)->second.element;
    for (auto [i, step] : llvm::enumerate(steps)) {
      SmallVector<Index> loops(chain.loops);
      reductionLoops.setIndex(chain.reduction, loops, {step, 0, nullptr});
      Value at = LLVM::GEPOp::create(builder, loc, begin.getType(), builder.getI8Type(), begin,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i * stride)});
      Value value = LLVM::LoadOp::create(builder, loc, memoryType(element), at, staged.elementBytes);
      remember(staged.operand.argument, maps.apply(staged.operand.map, loops), fromMemory(value, element));
    }
  }
  for (Value step : steps)
    if (failed(chainSteps.step(chain.reduction, chain.loops, step, next)))
      return failure();
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}
