// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How groups of threads and blocks share rows.

#include "RowEmitter.h"
#include "../SharedMemory.h"
#include "RowRegisters.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Registers of 32 bits that the elements of a row may take of a thread, which has 128.
static constexpr int64_t kKeptWords = 64;
// Operations on elements that a kernel of kept rows may consist of.
static constexpr int64_t kLongestCode = 4096;

RowEmitter::Share RowEmitter::shareFor(int64_t run) {
  int64_t lanes = kernel.getOrderAttr().getLanes();
  run = std::min(run, lanes);
  if (!ShapedType::isDynamic(rows.length) && rows.length < lanes) {
    int64_t runs = std::max<int64_t>(1, llvm::divideCeil(rows.length, run));
    int64_t threads = std::min<int64_t>(kWarpThreads, llvm::bit_ceil<uint64_t>(runs));
    return {run, threads, int64_t(llvm::bit_ceil<uint64_t>(llvm::divideCeil(runs, threads))), false, false};
  }
  int64_t threads = std::min(kWarpThreads, lanes / run);
  return {run, threads, lanes / (run * threads), false, false};
}

// Whether what a thread keeps of the row fits into its registers, and the code for each of its elements into
// a kernel.
bool RowEmitter::fitsRegisters(const Share &share) {
  if (ShapedType::isDynamic(rows.length) || rows.length > kernel.getOrderAttr().getLength())
    return false;
  int64_t operations = 0;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    operations += static_cast<int64_t>(llvm::range_size(*generic.getBlock())) - 1;
  int64_t elements =
      share.run * share.runs * static_cast<int64_t>(llvm::divideCeil(rows.length, share.stripe()));
  return elements * std::max<int64_t>(1, keptWordsPerElement(kernel, rows.length)) <= kKeptWords &&
         elements * operations <= kLongestCode;
}

// The longest run, or a shorter one by which the row fits into registers.
RowEmitter::Share RowEmitter::chooseShare(ValueRange roots) {
  Nest row;
  row.shape = {rows.length};
  if (!rows.ofElements)
    llvm::copy_if(roots, std::back_inserter(row.roots), [&](Value root) {
      return cast<RankedTensorType>(root.getType()).getShape() == ArrayRef(results[rows.space].shape);
    });
  int64_t longest = runLength(row, 0);
  for (int64_t run = longest; run >= 1; run /= 2) {
    Share candidate = shareFor(run);
    candidate.keeps = fitsRegisters(candidate);
    if (candidate.keeps)
      return candidate;
  }
  return shareFor(longest);
}

// Where rows are sums of chunks, a block has work for several groups.
LogicalResult RowEmitter::emitRoots() {
  if (work == Work::partial)
    return emitNodes();
  ValueRange roots = kernel.getBody().front().getTerminator()->getOperands();
  const Buffer &space = results[rows.space];
  int64_t axes = static_cast<int64_t>(space.shape.size()) - (rows.ofElements ? 0 : 1);
  byBlock = takesBlocks(kernel, rows);
  Share chosen = chooseShare(roots);
  if (!chosen.keeps && chooseLines()) {
    chosen = shareFor(std::min(chosen.run, runOfLines()));
    chosen.brings = byBlock = true;
  }
  launchShape = {byBlock ? MappingLevel::block : MappingLevel::thread, rows.space, axes};
  launchShape.threadsPerElement = byBlock ? 1 : chosen.threads;
  if (chosen.brings)
    layOutLines();
  if (byBlock)
    shared = sharedMemory(builder, function, kChunksTogether * sizeof(int64_t), "sums");
  bool everywhere = chosen.run == 1 && !chosen.brings;
  Value allowed = everywhere ? Value() : summedLengthsAllow(allowsRuns(chosen.run), chosen.run);
  return emitWhere(
      allowed, [&] { return emitShared(roots, chosen); }, [&] { return emitShared(roots, shareFor(1)); });
}

// Sums of unknown length have whole runs too.
Value RowEmitter::summedLengthsAllow(Value allowed, int64_t run) {
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>()) {
    SmallVector<unsigned> reduced;
    generic.getReductionDims(reduced);
    if (reduced.empty() || !ShapedType::isDynamic(rows.length))
      continue;
    Value rest = binary<arith::RemUIOp>(reductions.loopSize(generic, reduced.front()), indexConstant(run));
    Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, indexConstant(0));
    allowed = allowed ? binary<arith::AndIOp>(allowed, whole) : whole;
  }
  return allowed;
}

void RowEmitter::shareRows(const Share &chosen) {
  share = chosen;
  Value threadsOfGroup = indexConstant(share.threads);
  inGroup = binary<arith::RemUIOp>(lane, threadsOfGroup);
  groupOfWarp = binary<arith::DivUIOp>(lane, threadsOfGroup);
  prepareKeptRuns();
}

LogicalResult RowEmitter::emitShared(ValueRange roots, const Share &chosen) {
  shareRows(chosen);
  Nest space = outputs.nestOver(results[rows.space], {});
  SmallVector<Value> sizes(ArrayRef(space.sizes).take_front(launchShape.axes));
  auto emitOne = [&](Value number) {
    row = positionOfElement(number, sizes);
    if (share.brings)
      bringRow();
    return rows.ofElements ? outputs.storeRoots(roots, results, ArrayRef<Position>(row))
                           : emitRow(roots, space, row, !rows.sumsAlong);
  };
  Value count = elementCount(sizes);
  if (byBlock)
    return emitLoop(block, count, blocks, emitOne);
  return emitRowsOfGroups(count, emitOne);
}

// All groups of a warp take part in every turn, since they agree by shuffles; one without a row of its own
// sums the last one again, and stores nothing.
LogicalResult RowEmitter::emitRowsOfGroups(Value count, function_ref<LogicalResult(Value)> emitRow) {
  Value each = indexConstant(kWarpThreads / share.threads);
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(count));
  return emitLoop(
      binary<arith::MulIOp>(warp, each), count, binary<arith::MulIOp>(warps, each), [&](Value first) {
        Value number = binary<arith::AddIOp>(first, groupOfWarp);
        active = nullptr;
        if (share.threads == kWarpThreads || (known && *known % (kWarpThreads / share.threads) == 0))
          return emitRow(number);
        active = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, count);
        Value last = binary<arith::SubIOp>(count, indexConstant(1));
        return emitRow(binary<arith::MinUIOp>(number, last));
      });
}

// Groups take nodes of rows.
LogicalResult RowEmitter::emitNodes() {
  Share chosen = chooseShare(kernel.getBody().front().getTerminator()->getOperands());
  chosen = shareFor(chosen.run);
  launchShape.threadsPerElement = chosen.threads;
  auto emitShared = [&](const Share &taken) -> LogicalResult {
    shareRows(taken);
    return RunEmitter::emitNodes();
  };
  Value allowed = chosen.run == 1 ? Value() : summedLengthsAllow(allowsRuns(chosen.run), chosen.run);
  return emitWhere(allowed, [&] { return emitShared(chosen); }, [&] { return emitShared(shareFor(1)); });
}

LogicalResult RowEmitter::emitNodesInLanes(Value count, function_ref<LogicalResult(Value)> emitNode) {
  return emitRowsOfGroups(count, emitNode);
}

void RowEmitter::synchronizeTakers() { byBlock ? synchronizeBlock() : synchronizeWarp(); }

Value RowEmitter::isFirstTaker() {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, byBlock ? inBlock : inGroup,
                                        indexConstant(0));
  return active ? binary<arith::AndIOp>(active, isFirst) : isFirst;
}

LogicalResult RowEmitter::emitAlong(Value length, StoreAt storeAt) {
  OpBuilder::InsertionGuard guard(builder);
  if (active) {
    auto branch = scf::IfOp::create(builder, loc, active);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  Scope scope(*this);
  if (share.keeps)
    return storeKept(storeAt);
  Value run = indexConstant(share.run);
  Value first = binary<arith::MulIOp>(byBlock ? inBlock : inGroup, run);
  Value takers = byBlock ? blockThreads : indexConstant(share.threads);
  return emitLoop(first, length, binary<arith::MulIOp>(takers, run),
                  [&](Value index) { return storeAt(runFrom(index, share.run)); });
}

LogicalResult RowEmitter::storeKept(StoreAt storeAt) {
  for (const KeptRun &run : kept) {
    OpBuilder::InsertionGuard guard(builder);
    if (run.present) {
      auto branch = scf::IfOp::create(builder, loc, run.present);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Scope scope(*this);
    if (failed(storeAt(run.indices)))
      return failure();
  }
  return success();
}
