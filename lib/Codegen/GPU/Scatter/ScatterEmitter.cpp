// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ScatterEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Every group looks at all indices, so that more groups than these would only cost time.
static constexpr int64_t kBlocksPerSM = 2;
// What a thread loads before it stores the first of it: updates of several iterations, in several columns.
static constexpr int64_t kUpdatesAtOnce = 4, kMaxColumnsAtOnce = 4;

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

// Columns of a row; kDynamic if their number is not known.
static int64_t columnCount(OrderedWrite &write, ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (unsigned axis : write.inner)
    count = ShapedType::isDynamic(shape[axis]) || ShapedType::isDynamic(count) ? ShapedType::kDynamic
                                                                               : count * shape[axis];
  return count;
}

LogicalResult ScatterEmitter::emitOutputs() {
  launchShape = {MappingLevel::block, 0, static_cast<int64_t>(write.rank)};
  launchShape.tile.assign(write.rank, 1);
  launchShape.tile.back() = kBlockThreads;
  launchShape.persistentBlocks = kBlocksPerSM;
  for (unsigned loop = write.rank; loop < write.generic.getNumLoops(); ++loop)
    reduced.push_back(loop);
  int64_t columns = columnCount(write, results.front().shape);
  bool isKnown = !ShapedType::isDynamic(columns);
  groupThreads =
      isKnown ? std::clamp<int64_t>(llvm::PowerOf2Ceil(columns), kWarpThreads, kBlockThreads) : kWarpThreads;
  columnsAtOnce =
      isKnown ? std::clamp<int64_t>(columns / groupThreads, 1, kMaxColumnsAtOnce) : kMaxColumnsAtOnce;
  Value size = indexConstant(groupThreads);
  group = binary<arith::DivUIOp>(mapping.thread, size);
  groups = binary<arith::DivUIOp>(mapping.gridThreads, size);
  threadInGroup = binary<arith::RemUIOp>(mapping.threadInBlock, size);
  PerThread perThread(mapping);
  return emitParts(
      [&](const Part &part) { return failure(failed(emitStart(part)) || failed(emitUpdates(part))); });
}

// Rows are divided first; columns, if there are fewer rows than groups.
LogicalResult ScatterEmitter::emitParts(function_ref<LogicalResult(const Part &)> emitPart) {
  Value one = indexConstant(1), positions = sizeAlong(write.outer), rows = sizeAlong(write.searched),
        columns = sizeAlong(write.inner);
  Value warps = binary<arith::MaxUIOp>(
      binary<arith::DivUIOp>(mapping.gridWarps, binary<arith::MaxUIOp>(positions, one)), one);
  Value ranges = binary<arith::MaxUIOp>(binary<arith::MinUIOp>(warps, rows), one);
  Value mostStrips = binary<arith::CeilDivUIOp>(columns, indexConstant(groupThreads));
  Value strips =
      binary<arith::MaxUIOp>(binary<arith::MinUIOp>(binary<arith::DivUIOp>(warps, ranges), mostStrips), one);
  Value rowsOfRange = binary<arith::CeilDivUIOp>(rows, ranges),
        columnsOfStrip = binary<arith::CeilDivUIOp>(columns, strips);
  Value parts = binary<arith::MulIOp>(positions, binary<arith::MulIOp>(ranges, strips));
  return emitLoop(group, parts, groups, [&](Value number) {
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

// A result with the memory of what it starts from has these elements already. A thread writes the columns
// that it updates. Where a row has few columns, all threads of a warp write, and wait for each other.
LogicalResult ScatterEmitter::emitStart(const Part &part) {
  if (isa<BlockArgument>(write.start())) // tied
    return success();
  Value width = binary<arith::SubIOp>(part.upperColumn, part.lowerColumn);
  auto storeAt = [&](Value row, Value column) {
    SmallVector<Index> loops(part.loops);
    setIndices(loops, write.searched, row);
    setIndices(loops, write.inner, column);
    Position element(ArrayRef<Index>(loops).take_front(write.rank));
    return kernelOutputs.storeOutputs(write.start(), results.front(), element);
  };
  if (groupThreads > kWarpThreads)
    return emitLoop(part.lowerRow, part.upperRow, indexConstant(1), [&](Value row) {
      return emitLoop(binary<arith::AddIOp>(part.lowerColumn, threadInGroup), part.upperColumn,
                      indexConstant(groupThreads), [&](Value column) { return storeAt(row, column); });
    });
  Value count = binary<arith::MulIOp>(binary<arith::SubIOp>(part.upperRow, part.lowerRow), width);
  LogicalResult stored = emitLoop(mapping.lane, count, indexConstant(kWarpThreads), [&](Value number) {
    return storeAt(binary<arith::AddIOp>(part.lowerRow, binary<arith::DivUIOp>(number, width)),
                   binary<arith::AddIOp>(part.lowerColumn, binary<arith::RemUIOp>(number, width)));
  });
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

// Each thread of a warp looks at another iteration; all warps of a group look at the same. Those of the part
// follow in ascending order.
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
    return emitVotes(binary<arith::AndIOp>(isOwn, isBelow(iteration, count)), [&](ArrayRef<Vote> votes) {
      SmallVector<Update> updates;
      for (const Vote &vote : votes) {
        Value voted = binary<arith::AddIOp>(first, vote.thread);
        FailureOr<Value> own = rowOf(part, voted);
        if (failed(own))
          return failure();
        updates.push_back({voted, *own, vote.isGiven});
      }
      return emitUpdates(part, updates);
    });
  });
}

// The body for the threads of the warp whose condition holds, some at a time, in ascending order. If fewer
// are left, the others are the first one again, and not given.
LogicalResult ScatterEmitter::emitVotes(Value condition, function_ref<LogicalResult(ArrayRef<Vote>)> body) {
  Type i32 = builder.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(value));
  };
  auto isNotZero = [&](Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, constant(0));
  };
  Value voters =
      NVVM::VoteSyncOp::create(builder, loc, i32, constant(-1), condition, NVVM::VoteSyncKind::ballot);
  auto loop = scf::WhileOp::create(builder, loc, i32, voters);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, i32, loc);
  scf::ConditionOp::create(builder, loc, isNotZero(before->getArgument(0)), before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, i32, loc);
  Scope scope(*this);
  Value left = after->getArgument(0);
  SmallVector<Vote> votes;
  for (int64_t number = 0; number < kUpdatesAtOnce; ++number) {
    Value isGiven = number == 0 ? Value() : isNotZero(left);
    Value thread = LLVM::CountTrailingZerosOp::create(builder, loc, i32, left, /*is_zero_poison=*/false);
    thread = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), thread);
    if (isGiven)
      thread = arith::SelectOp::create(builder, loc, isGiven, thread, votes.front().thread);
    votes.push_back({thread, isGiven});
    left = arith::AndIOp::create(builder, loc, left, arith::SubIOp::create(builder, loc, left, constant(1)));
  }
  if (failed(body(votes)))
    return failure();
  scf::YieldOp::create(builder, loc, left);
  return success();
}

LogicalResult ScatterEmitter::emitUpdates(const Part &part, ArrayRef<Update> updates) {
  int64_t strip = columnsAtOnce * groupThreads;
  Value width = binary<arith::SubIOp>(part.upperColumn, part.lowerColumn), stripSize = indexConstant(strip);
  Value whole = binary<arith::MulIOp>(binary<arith::DivUIOp>(width, stripSize), stripSize);
  Value middle = binary<arith::AddIOp>(part.lowerColumn, whole);
  auto columns = [&](Value from, Value to, int64_t count) {
    return emitLoop(binary<arith::AddIOp>(from, threadInGroup), to, indexConstant(count * groupThreads),
                    [&](Value column) { return emitColumns(part, updates, column, count); });
  };
  if (columnsAtOnce == 1)
    return columns(part.lowerColumn, part.upperColumn, 1);
  return failure(failed(columns(part.lowerColumn, middle, columnsAtOnce)) ||
                 failed(columns(middle, part.upperColumn, 1)));
}

// All elements are loaded before the first is stored. An update of a row that one before it changes starts
// from what that gives.
LogicalResult ScatterEmitter::emitColumns(const Part &part, ArrayRef<Update> updates, Value column,
                                          int64_t count) {
  struct Stored {
    Position element;
    Value value;
  };
  SmallVector<SmallVector<Stored>> all(updates.size());
  for (int64_t number = 0; number < count; ++number) {
    Value own = binary<arith::AddIOp>(column, indexConstant(number * groupThreads));
    for (auto [place, update] : llvm::enumerate(updates)) {
      SmallVector<Index> loops(part.loops);
      setIndices(loops, reduced, update.iteration);
      setIndices(loops, write.searched, update.row);
      setIndices(loops, write.inner, own);
      Position element(ArrayRef<Index>(loops).take_front(write.rank));
      Value start = memoryAccess.load(results.front(), element);
      for (size_t before = 0; before < place; ++before) {
        Value isSame =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, updates[before].row, update.row);
        start = arith::SelectOp::create(builder, loc, isSame, all[before].back().value, start);
      }
      IRMapping known;
      for (auto [axis, computed] : llvm::zip_equal(write.searched, write.indices))
        known.map(computed, loops[axis].base);
      known.map(write.accumulator(), start);
      FailureOr<SmallVector<Value>> updated =
          evaluator.evaluateBody(write.generic, loops, known, write.updated);
      if (failed(updated))
        return failure();
      all[place].push_back({element, updated->front()});
    }
  }
  for (size_t place = 0; place < updates.size(); ++place) {
    auto store = [&] {
      for (const Stored &each : all[place])
        memoryAccess.store(results.front(), each.element, each.value);
      return success();
    };
    if (failed(emitIfAllowed(updates[place].isGiven, store, nullptr)))
      return failure();
  }
  return success();
}
