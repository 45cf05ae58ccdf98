// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowEmitter.h"
#include "RowLiveness.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// The maximum number of operations on elements in a kernel whose rows are in registers: its code is unrolled.
static constexpr int64_t kMaxUnrolledOps = 4096;

// Rows of up to so many elements are short; where they are many, a row has a quarter of the threads.
static constexpr int64_t kShortRow = 256, kQuarter = 4;
// Elements that a thread loads before it adds the first of them where threads are few.
static constexpr int64_t kElementsAtOnce = 16;

int64_t RowDistribution::rowCount() {
  ArrayRef<int64_t> shape = ArrayRef(results[rows.space].shape).drop_back(rows.ofElements ? 0 : 1);
  return ShapedType::isDynamicShape(shape) ? ShapedType::kDynamic : ShapedType::getNumElements(shape);
}

bool RowDistribution::hasFewThreads(int64_t threadsOfRow) {
  int64_t count = rowCount();
  return !ShapedType::isDynamic(count) && areFewThreads(count * threadsOfRow);
}

bool RowDistribution::allRunAtOnce(int64_t blocksOfRow) {
  int64_t count = rowCount();
  return !ShapedType::isDynamic(count) && count * blocksOfRow <= kDefaultSMCount;
}

bool RowDistribution::hasFewGroups(int64_t threadsOfGroup) {
  if (!byBlock && emitter.work != KernelContext::Work::partial)
    return hasFewThreads(threadsOfGroup);
  if (ShapedType::isDynamic(rows.length))
    return false;
  int64_t threads =
      std::max<int64_t>(1, rows.length / kernel.getOrderAttr().getPartLength()) * threadsOfGroup;
  return hasFewThreads(byBlock ? std::min(threads, 2 * kBlockThreads) : threads);
}

int64_t RowDistribution::threadsOfBlock(int64_t threadsOfGroup) {
  if (ShapedType::isDynamic(rows.length))
    return kBlockThreads;
  int64_t chunks =
      llvm::bit_ceil<uint64_t>(llvm::divideCeil(rows.length, kernel.getOrderAttr().getPartLength()));
  int64_t threads = std::clamp<int64_t>(chunks * threadsOfGroup, kWarpThreads, kBlockThreads);
  if (!hasFewThreads(threads))
    return threads;
  return hasFewThreads(kBlockThreads) && chunks * threadsOfGroup > kBlockThreads ? 2 * kBlockThreads
                                                                                 : kBlockThreads;
}

RowTiling RowDistribution::tilingFor(int64_t vector) {
  int64_t lanes = kernel.getOrderAttr().getLanes();
  vector = std::min(vector, lanes);
  if (!ShapedType::isDynamic(rows.length) && rows.length < lanes) {
    int64_t vectors = std::max<int64_t>(1, llvm::divideCeil(rows.length, vector));
    int64_t threads = std::min<int64_t>(kWarpThreads, llvm::bit_ceil<uint64_t>(vectors));
    // Of many rows, a thread has several lanes: it joins them without shuffles.
    if (!hasFewThreads(threads))
      threads = std::max<int64_t>(1, threads / kQuarter);
    return {vector, threads, int64_t(llvm::bit_ceil<uint64_t>(llvm::divideCeil(vectors, threads))),
            1,      false,   false};
  }
  int64_t threads = std::min(kWarpThreads, lanes / vector);
  bool isShort = !ShapedType::isDynamic(rows.length) && rows.length <= kShortRow;
  if (isShort && threads == kWarpThreads && !hasFewGroups(threads))
    threads /= kQuarter;
  int64_t loads = hasFewGroups(threads) ? std::max<int64_t>(1, kElementsAtOnce / vector) : 1;
  return {vector, threads, lanes / (vector * threads), loads, false, false};
}

// Whether the live values of so many elements fit into so many registers of a thread, and the unrolled code
// into a kernel.
bool RowDistribution::fitsThread(int64_t elements, int64_t maxWords) {
  int64_t operations = 0;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    operations += static_cast<int64_t>(llvm::range_size(*generic.getBlock())) - 1;
  return elements * std::max<int64_t>(1, liveWordsPerElement(kernel, rows.length)) <= maxWords &&
         elements * operations <= kMaxUnrolledOps;
}

bool RowDistribution::fitsRegisters(const RowTiling &candidate) {
  if (ShapedType::isDynamic(rows.length) || rows.length > kernel.getOrderAttr().getPartLength())
    return false;
  return fitsThread(candidate.vector * candidate.vectors *
                        static_cast<int64_t>(llvm::divideCeil(rows.length, candidate.lanes())),
                    kMaxRowWords);
}

bool RowDistribution::fitsBlock(int64_t elements, int64_t vector, int64_t threads, int64_t maxWords) {
  return fitsThread(vector * static_cast<int64_t>(llvm::divideCeil(elements, vector * threads)), maxWords);
}

int64_t RowDistribution::longestVector(ValueRange outputs) {
  Nest nest;
  nest.shape = {rows.length};
  if (!rows.ofElements)
    llvm::copy_if(outputs, std::back_inserter(nest.outputs), [&](Value output) {
      return cast<RankedTensorType>(output.getType()).getShape() == ArrayRef(results[rows.space].shape);
    });
  return vectorized.vectorLength(nest, 0);
}

RowTiling RowDistribution::chooseTiling(ValueRange outputs) {
  int64_t longest = longestVector(outputs);
  // Shorter vectors make larger groups: the lanes of the order are as many.
  while (longest > 1 && tilingFor(longest).threads < kWarpThreads && hasFewGroups(tilingFor(longest).threads))
    longest /= 2;
  for (int64_t vector = longest; vector >= 1; vector /= 2) {
    RowTiling candidate = tilingFor(vector);
    candidate.inRegisters = fitsRegisters(candidate);
    if (candidate.inRegisters)
      return candidate;
  }
  return tilingFor(longest);
}

// Sums of dynamic length need whole vectors, too.
Value RowDistribution::allowsVectors(const RowTiling &candidate) {
  Value allowed = vectorized.allowsVectors(candidate.vector);
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>()) {
    SmallVector<unsigned> reduced;
    generic.getReductionDims(reduced);
    if (reduced.empty() || !ShapedType::isDynamic(rows.length))
      continue;
    Value remainder = binary<arith::RemUIOp>(reductionLoops.sizeOf(generic, reduced.front()),
                                             indexConstant(candidate.vector));
    Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, remainder, indexConstant(0));
    allowed = allowed ? binary<arith::AndIOp>(allowed, whole) : whole;
  }
  return allowed;
}

void RowDistribution::bind(const RowTiling &chosen) {
  tiling = chosen;
  Value threads = indexConstant(tiling.threads);
  inGroup = binary<arith::RemUIOp>(mapping.lane, threads);
  groupInWarp = binary<arith::DivUIOp>(mapping.lane, threads);
  if (tiling.inBlock())
    bindSegment();
}

void RowDistribution::bindSegment() {
  segmentStart = indexConstant(0);
  segmentEnd = indexConstant(rows.length);
  if (tiling.clusterBlocks == 1)
    return;
  Value rank = binary<arith::RemUIOp>(mapping.block, indexConstant(tiling.clusterBlocks));
  Value segment = indexConstant(tiling.segment);
  segmentStart = binary<arith::MulIOp>(rank, segment);
  segmentEnd = binary<arith::MinUIOp>(binary<arith::AddIOp>(segmentStart, segment), segmentEnd);
}

// All groups of a warp take part in every iteration, since shuffles need all threads. A group without a row
// of its own computes the last row again, and stores nothing.
LogicalResult RowDistribution::emitLoopOverGroups(Value count, function_ref<LogicalResult(Value)> emitRow) {
  Value groups = indexConstant(kWarpThreads / tiling.threads);
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(count));
  return emitLoop(binary<arith::MulIOp>(mapping.warp, groups), count,
                  binary<arith::MulIOp>(mapping.gridWarps, groups), [&](Value first) {
                    Value number = binary<arith::AddIOp>(first, groupInWarp);
                    active = nullptr;
                    if (tiling.threads == kWarpThreads ||
                        (known && *known % (kWarpThreads / tiling.threads) == 0))
                      return emitRow(number);
                    active = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, count);
                    Value last = binary<arith::SubIOp>(count, indexConstant(1));
                    return emitRow(binary<arith::MinUIOp>(number, last));
                  });
}

Value RowDistribution::isLeader() {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        byBlock ? mapping.threadInBlock : inGroup, indexConstant(0));
  if (tiling.clusterBlocks > 1)
    isFirst = binary<arith::AndIOp>(isFirst, isEqual(segmentStart, 0));
  return active ? binary<arith::AndIOp>(active, isFirst) : isFirst;
}

std::pair<Value, Value> RowDistribution::stridedRange() {
  Value vector = indexConstant(tiling.vector);
  Value first = binary<arith::MulIOp>(byBlock ? mapping.threadInBlock : inGroup, vector);
  Value threads = byBlock ? mapping.blockThreads : indexConstant(tiling.threads);
  return {first, binary<arith::MulIOp>(threads, vector)};
}

bool RowDistribution::hasGridRows(Value tensor) {
  ArrayRef<int64_t> space = results[rows.space].shape;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  return !shape.empty() && shape.back() == rows.length &&
         shape.drop_back() == space.drop_back(rows.ofElements ? 0 : 1);
}

SmallVector<Value> RowDistribution::sourcesOf(linalg::GenericOp reduction,
                                              function_ref<bool(Value)> isWanted) {
  llvm::SetVector<Value> seen;
  SmallVector<Value> found, pending(reduction.getInputs());
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value))
      continue;
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (isWanted(value))
      found.push_back(value);
    else if (generic && generic.getNumReductionLoops() == 0)
      llvm::append_range(pending, generic.getInputs());
  }
  return found;
}
