// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ScatterEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Every warp looks at all indices, so that more warps than these would only cost time.
static constexpr int64_t kBlocksPerSM = 2;
// Columns that a warp updates at once: the loads of one do not wait for the stores of another.
static constexpr int64_t kColumnsAtOnce = 4 * kWarpThreads;

Value ScatterEmitter::sizeAlong(ArrayRef<unsigned> axes) {
  Value count = indexConstant(1);
  for (unsigned axis : axes)
    count = binary<arith::MulIOp>(count, axis < write.rank ? results.front().sizes[axis]
                                                           : reductionLoops.sizeOf(write.generic, axis));
  return count;
}

// The indices of these loops, from their row-major number.
void ScatterEmitter::setIndices(SmallVectorImpl<Index> &loops, ArrayRef<unsigned> axes, Value number) {
  SmallVector<Value> sizes;
  for (unsigned axis : axes)
    sizes.push_back(sizeAlong(axis));
  for (auto [axis, index] : llvm::zip_equal(axes, mapping.positionOfElement(number, sizes)))
    loops[axis] = index;
}

LogicalResult ScatterEmitter::emitOutputs() {
  launchShape = {MappingLevel::thread, 0, static_cast<int64_t>(write.rank)};
  launchShape.persistentBlocks = kBlocksPerSM;
  for (unsigned loop = write.rank; loop < write.generic.getNumLoops(); ++loop)
    reduced.push_back(loop);
  PerThread perThread(mapping);
  return emitParts(
      [&](const Part &part) { return failure(failed(emitStart(part)) || failed(emitUpdates(part))); });
}

// Rows are divided first; columns, if there are fewer rows than warps.
LogicalResult ScatterEmitter::emitParts(function_ref<LogicalResult(const Part &)> emitPart) {
  Value one = indexConstant(1), positions = sizeAlong(write.outer), rows = sizeAlong(write.searched),
        columns = sizeAlong(write.inner);
  Value warps = binary<arith::MaxUIOp>(
      binary<arith::DivUIOp>(mapping.gridWarps, binary<arith::MaxUIOp>(positions, one)), one);
  Value ranges = binary<arith::MaxUIOp>(binary<arith::MinUIOp>(warps, rows), one);
  Value mostStrips = binary<arith::CeilDivUIOp>(columns, indexConstant(kColumnsAtOnce));
  Value strips =
      binary<arith::MaxUIOp>(binary<arith::MinUIOp>(binary<arith::DivUIOp>(warps, ranges), mostStrips), one);
  Value rowsOfRange = binary<arith::CeilDivUIOp>(rows, ranges),
        columnsOfStrip = binary<arith::CeilDivUIOp>(columns, strips);
  Value parts = binary<arith::MulIOp>(positions, binary<arith::MulIOp>(ranges, strips));
  return emitLoop(mapping.warp, parts, mapping.gridWarps, [&](Value number) {
    Scope scope(*this);
    Part part;
    part.loops.assign(write.generic.getNumLoops(), Index{indexConstant(0), 0, nullptr});
    Value strip = binary<arith::RemUIOp>(number, strips);
    number = binary<arith::DivUIOp>(number, strips);
    Value range = binary<arith::RemUIOp>(number, ranges);
    setIndices(part.loops, write.outer, binary<arith::DivUIOp>(number, ranges));
    auto bounds = [&](Value index, Value step, Value size) {
      Value lower = binary<arith::MinUIOp>(binary<arith::MulIOp>(index, step), size);
      return std::make_pair(lower, binary<arith::MinUIOp>(binary<arith::AddIOp>(lower, step), size));
    };
    std::tie(part.lowerRow, part.upperRow) = bounds(range, rowsOfRange, rows);
    std::tie(part.lowerColumn, part.upperColumn) = bounds(strip, columnsOfStrip, columns);
    return emitPart(part);
  });
}

// A result with the memory of what it starts from has these elements already.
LogicalResult ScatterEmitter::emitStart(const Part &part) {
  if (isa<BlockArgument>(write.start())) // tied
    return success();
  Value width = binary<arith::SubIOp>(part.upperColumn, part.lowerColumn);
  Value count = binary<arith::MulIOp>(binary<arith::SubIOp>(part.upperRow, part.lowerRow), width);
  LogicalResult stored =
      emitLoop(mapping.lane, count, indexConstant(kWarpThreads), [&](Value number) -> LogicalResult {
        SmallVector<Index> loops(part.loops);
        setIndices(loops, write.searched,
                   binary<arith::AddIOp>(part.lowerRow, binary<arith::DivUIOp>(number, width)));
        setIndices(loops, write.inner,
                   binary<arith::AddIOp>(part.lowerColumn, binary<arith::RemUIOp>(number, width)));
        Position element(ArrayRef<Index>(loops).take_front(write.rank));
        return kernelOutputs.storeOutputs(write.start(), results.front(), element);
      });
  // Other threads of the warp update these elements.
  mapping.synchronizeWarp();
  return stored;
}

// The row that the iteration updates; a number that no part has if an index is outside.
FailureOr<Value> ScatterEmitter::rowOf(const Part &part, Value iteration) {
  SmallVector<Index> loops(part.loops);
  setIndices(loops, reduced, iteration);
  FailureOr<SmallVector<Value>> indices =
      evaluator.evaluateBody(write.generic, loops, IRMapping(), write.indices);
  if (failed(indices))
    return failure();
  Value row = indexConstant(0), isInside;
  for (auto [axis, index] : llvm::zip_equal(write.searched, *indices)) {
    Value size = sizeAlong(axis);
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index, size);
    isInside = isInside ? binary<arith::AndIOp>(isInside, inside) : inside;
    row = binary<arith::AddIOp>(binary<arith::MulIOp>(row, size), index);
  }
  return Value(arith::SelectOp::create(builder, loc, isInside, row, indexConstant(-1)));
}

// Each thread of the warp looks at another iteration. Those of the warp's part follow in ascending order.
LogicalResult ScatterEmitter::emitUpdates(const Part &part) {
  Value count = sizeAlong(reduced);
  Value last = binary<arith::SubIOp>(count, indexConstant(1));
  return emitLoop(indexConstant(0), count, indexConstant(kWarpThreads), [&](Value first) -> LogicalResult {
    Value iteration = binary<arith::AddIOp>(first, mapping.lane);
    FailureOr<Value> row = rowOf(part, binary<arith::MinUIOp>(iteration, last));
    if (failed(row))
      return failure();
    auto isBelow = [&](Value value, Value bound) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, value, bound);
    };
    Value isOwn = isBelow(binary<arith::SubIOp>(*row, part.lowerRow),
                          binary<arith::SubIOp>(part.upperRow, part.lowerRow));
    return emitVotes(binary<arith::AndIOp>(isOwn, isBelow(iteration, count)),
                     [&](Value thread) { return emitUpdate(part, binary<arith::AddIOp>(first, thread)); });
  });
}

// The body for each thread of the warp whose condition holds, in ascending order.
LogicalResult ScatterEmitter::emitVotes(Value condition, function_ref<LogicalResult(Value thread)> body) {
  Type i32 = builder.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(value));
  };
  Value votes =
      NVVM::VoteSyncOp::create(builder, loc, i32, constant(-1), condition, NVVM::VoteSyncKind::ballot);
  auto loop = scf::WhileOp::create(builder, loc, i32, votes);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, i32, loc);
  Value isLeft =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, before->getArgument(0), constant(0));
  scf::ConditionOp::create(builder, loc, isLeft, before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, i32, loc);
  Scope scope(*this);
  Value left = after->getArgument(0);
  Value thread = LLVM::CountTrailingZerosOp::create(builder, loc, i32, left, /*is_zero_poison=*/true);
  if (failed(body(arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), thread))))
    return failure();
  Value without =
      arith::AndIOp::create(builder, loc, left, arith::SubIOp::create(builder, loc, left, constant(1)));
  scf::YieldOp::create(builder, loc, without);
  return success();
}

LogicalResult ScatterEmitter::emitUpdate(const Part &part, Value iteration) {
  FailureOr<Value> row = rowOf(part, iteration);
  if (failed(row))
    return failure();
  SmallVector<Index> loops(part.loops);
  setIndices(loops, reduced, iteration);
  setIndices(loops, write.searched, *row);
  Value width = binary<arith::SubIOp>(part.upperColumn, part.lowerColumn),
        strip = indexConstant(kColumnsAtOnce);
  Value whole = binary<arith::MulIOp>(binary<arith::DivUIOp>(width, strip), strip);
  Value middle = binary<arith::AddIOp>(part.lowerColumn, whole);
  auto columns = [&](Value from, Value to, int64_t atOnce) {
    return emitLoop(binary<arith::AddIOp>(from, mapping.lane), to, indexConstant(atOnce),
                    [&](Value column) { return emitColumns(loops, column, atOnce / kWarpThreads); });
  };
  return failure(failed(columns(part.lowerColumn, middle, kColumnsAtOnce)) ||
                 failed(columns(middle, part.upperColumn, kWarpThreads)));
}

LogicalResult ScatterEmitter::emitColumns(ArrayRef<Index> iteration, Value column, int64_t count) {
  IRMapping known;
  for (auto [axis, computed] : llvm::zip_equal(write.searched, write.indices))
    known.map(computed, iteration[axis].base);
  SmallVector<std::pair<Position, Value>> updates;
  for (int64_t number = 0; number < count; ++number) {
    SmallVector<Index> loops(iteration);
    setIndices(loops, write.inner, binary<arith::AddIOp>(column, indexConstant(number * kWarpThreads)));
    Position element(ArrayRef<Index>(loops).take_front(write.rank));
    IRMapping values(known);
    values.map(write.accumulator(), memoryAccess.load(results.front(), element));
    FailureOr<SmallVector<Value>> updated =
        evaluator.evaluateBody(write.generic, loops, values, write.updated);
    if (failed(updated))
      return failure();
    updates.emplace_back(element, updated->front());
  }
  for (auto &[element, value] : updates)
    memoryAccess.store(results.front(), element, value);
  return success();
}
