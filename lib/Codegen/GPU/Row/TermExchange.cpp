// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TermExchange.h"
#include "../Generic/SharedMemory.h"
#include "ChunkSums.h"
#include "ClusterExchange.h"
#include "RowDistribution.h"
#include "RowEmitter.h"
#include "RowLiveness.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Words of a row in the registers of a thread, with which three blocks of the default size share a
// multiprocessor; and the threads of a block.
static constexpr int64_t kFewWords = 32, kMinThreads = 64, kMaxThreads = 512;
// The maximum, beside which ptxas needs no local memory for the code of two blocks of the default size, where
// some threads have a vector less than others.
static constexpr int64_t kWordsOfPartialRows = 48;
// Elements that a thread loads from shared memory before it adds the first of them.
static constexpr int64_t kTermsAtOnce = 32;
// A block needs no longer for rows of so many chunks than a cluster with its barriers.
static constexpr int64_t kChunksOfBlock = 3;
// One value per warp of the largest block.
static constexpr int64_t kWarpBytes = kMaxThreads / kWarpThreads * sizeof(int64_t);

//===- Which rows ---------------------------------------------------------===//

static Value termOf(linalg::GenericOp reduction) {
  Operation *combiner = combiningOp(reduction);
  return combiner->getOperand(combiner->getOperand(0) == reduction.getRegionOutputArgs().front() ? 1 : 0);
}

bool TermExchange::isFreeOfOrder(linalg::GenericOp reduction) {
  return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
             arith::MinUIOp, arith::AndIOp, arith::OrIOp>(combiningOp(reduction));
}

// An FMA has two values of each element.
static bool hasOneTerm(linalg::GenericOp reduction) {
  ReductionStructure structure = matchReduction(reduction);
  return structure.form == ReductionForm::joined && !isa<math::FmaOp>(structure.combiner) &&
         structure.combiner->getResult(0).getType().isIntOrFloat();
}

static bool computesWideElements(linalg::GenericOp generic) {
  Type element = getElementTypeOrSelf(generic.getResult(0).getType());
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() > 32;
}

bool TermExchange::hasFewWords(int64_t segment) const {
  bool isWide = llvm::any_of(kernel.getBody().getOps<linalg::GenericOp>(), computesWideElements);
  return liveWordsPerElement(kernel, rows.length) <= 1 && !isWide && segment <= kFewWords * kBlockThreads;
}

// Without results along the row, nothing of it is live behind the last sum.
int64_t TermExchange::maxWords(int64_t segment, int64_t vector, int64_t threads) const {
  if (hasFewWords(segment))
    return kFewWords;
  bool isWhole = segment % (vector * threads) == 0 && rows.length % segment == 0;
  return isWhole || rows.ofElements ? RowDistribution::kMaxRowWords : kWordsOfPartialRows;
}

// Threads have few words of a row where blocks of the default size are enough for it, else as many as there
// is room for: two small blocks overlap better than the halves of a large one. Of few rows, more threads have
// shorter code. 64-bit code, and several live values of an element, need more registers. Powers of two, so
// that warps join by shuffles; 0 if the row fits into no block.
int64_t TermExchange::chooseThreads(int64_t segment, int64_t blocks, int64_t vector) {
  int64_t threads = kMinThreads;
  while (!distribution.fitsBlock(segment, vector, threads, maxWords(segment, vector, threads)))
    if ((threads *= 2) > kMaxThreads)
      return 0;
  while (threads < kMaxThreads && distribution.hasFewThreads(threads * blocks))
    threads *= 2;
  return threads;
}

// The segment of a block is 2ⁿ chunks of the order, whose sum is a node of its tree. None if a segment does
// not fit into a block.
std::optional<RowTiling> TermExchange::tilingOfBlocks(int64_t blocks, int64_t vector) {
  int64_t segment = rows.length;
  if (blocks > 1) {
    int64_t part = kernel.getOrderAttr().getPartLength();
    int64_t chunks = llvm::bit_ceil<uint64_t>(llvm::divideCeil(llvm::divideCeil(rows.length, part), blocks));
    if (chunks > kChunksPerPass)
      return std::nullopt;
    segment = part * chunks;
    blocks = llvm::divideCeil(rows.length, segment);
  }
  if (segment * termBytes + kSumBytes + kWarpBytes + kClusterBytes > limits.sharedBytes)
    return std::nullopt;
  int64_t threads = chooseThreads(segment, blocks, vector);
  if (threads == 0)
    return std::nullopt;
  RowTiling tiling = distribution.tilingFor(vector);
  tiling.loads = kTermsAtOnce / vector;
  tiling.blockThreads = threads;
  tiling.clusterBlocks = blocks;
  tiling.segment = segment;
  return tiling;
}

// Whether the blocks have half of the elements and all run at the same time.
bool TermExchange::isShorter(const RowTiling &tiling, const RowTiling &than) const {
  return distribution.allRunAtOnce(tiling.clusterBlocks) && 2 * tiling.segment <= than.segment;
}

// Blocks that run one after the other should have as much work each. Without conditions for the end of the
// row they also need fewer registers.
bool TermExchange::isBalanced(const RowTiling &tiling) const {
  return distribution.allRunAtOnce(tiling.clusterBlocks) || rows.length % tiling.segment == 0;
}

std::optional<RowTiling> TermExchange::chooseTiling(ValueRange outputs) {
  if (ShapedType::isDynamic(rows.length) || rows.length < kernel.getOrderAttr().getLanes() ||
      rows.sumsAlong || argumentsReadAgain(kernel, rows.length).empty())
    return std::nullopt;
  termBytes = 0;
  for (auto reduction : kernel.getBody().getOps<linalg::GenericOp>()) {
    if (reduction.getNumReductionLoops() == 0)
      continue;
    if (!hasOneTerm(reduction))
      return std::nullopt;
    if (!isFreeOfOrder(reduction))
      termBytes = std::max(termBytes, memoryBytes(termOf(reduction).getType()));
  }
  int64_t vector =
      std::min(distribution.longestVector(outputs), kAccessBytes / std::max<int64_t>(1, termBytes));
  std::optional<RowTiling> chosen = tilingOfBlocks(1, vector);
  if (rows.length <= kChunksOfBlock * kernel.getOrderAttr().getPartLength())
    return chosen;
  for (int64_t blocks = 2; blocks <= limits.clusterBlocks; blocks *= 2) {
    std::optional<RowTiling> tiling = tilingOfBlocks(blocks, vector);
    if (tiling && (chosen ? isShorter(*tiling, *chosen) : isBalanced(*tiling)))
      chosen = tiling;
  }
  return chosen;
}

void TermExchange::allocate(const RowTiling &tiling) {
  launchShape.threadsPerBlock = tiling.blockThreads;
  fewRegisters = hasFewWords(tiling.segment);
  if (tiling.clusterBlocks > 1)
    cluster.allocate(tiling.clusterBlocks);
  ofWarps = sharedMemory(builder, function, kWarpBytes, "warps");
  if (termBytes == 0)
    return;
  terms = sharedMemory(builder, function, /*bytes=*/0, "terms", kChunkBytes);
  launchShape.dynamicSharedBytes = llvm::alignTo(tiling.segment * termBytes, kChunkBytes);
}

//===- Values of this thread ----------------------------------------------===//

FailureOr<SmallVector<Value>> TermExchange::termsOf(linalg::GenericOp reduction, ArrayRef<Index> loops) {
  if (failed(registers.loadOperands(reduction)))
    return failure();
  ThreadMapping::PerThread perThread(mapping);
  SmallVector<Value> values;
  for (const RowRegisters::Vector &vector : registers.vectors)
    for (Value index : vector.indices) {
      SmallVector<Index> inner(loops);
      reductionLoops.setIndex(reduction, inner, {index, 0, nullptr});
      auto term = evaluator.evaluateBody(reduction, inner, IRMapping(), termOf(reduction));
      if (failed(term))
        return failure();
      values.push_back(term->front());
    }
  return values;
}

//===- Reductions in any order --------------------------------------------===//

// A tree, so that joins do not wait for each other.
Value TermExchange::joinThread(linalg::GenericOp reduction, SmallVector<Value> values, Value identity) {
  for (auto [number, value] : llvm::enumerate(values))
    if (Value present = registers.vectors[number / distribution.tiling.vector].present)
      value = arith::SelectOp::create(builder, loc, present, value, identity);
  values.push_back(identity);
  while (values.size() > 1) {
    size_t half = values.size() / 2;
    for (size_t i = 0; i < half; ++i)
      values[i] =
          joinPartialResults(builder, loc, combiningOp(reduction), values[i], values[values.size() - 1 - i]);
    values.truncate(values.size() - half);
  }
  return values.front();
}

Value TermExchange::joinThreads(linalg::GenericOp reduction, Value value, int64_t threads) {
  for (int64_t distance = threads / 2; distance >= 1; distance /= 2)
    value = joinPartialResults(builder, loc, combiningOp(reduction), value,
                               warpReductions.shuffle(value, distance));
  return value;
}

Value TermExchange::warpSlot(Value number, Type type) {
  return addBytes(builder, loc, ofWarps, binary<arith::MulIOp>(number, indexConstant(memoryBytes(type))));
}

FailureOr<Value> TermExchange::reduceInAnyOrder(linalg::GenericOp reduction, ArrayRef<Index> loops,
                                                Value identity) {
  FailureOr<SmallVector<Value>> values = termsOf(reduction, loops);
  if (failed(values))
    return failure();
  Type type = identity.getType();
  Value ofWarp = joinThreads(reduction, joinThread(reduction, *values, identity), kWarpThreads);
  Value warpSize = indexConstant(kWarpThreads);
  mapping.synchronizeBlock(); // all threads have read the values of the reduction before
  LogicalResult stored = emitIf(isEqual(mapping.lane, 0), [&] {
    Value slot = warpSlot(binary<arith::DivUIOp>(mapping.threadInBlock, warpSize), type);
    LLVM::StoreOp::create(builder, loc, toMemory(ofWarp), slot, memoryBytes(type));
    return success();
  });
  assert(succeeded(stored) && "stores emit no code that can fail");
  (void)stored;
  mapping.synchronizeBlock();
  int64_t warps = distribution.tiling.blockThreads / kWarpThreads;
  Value slot = warpSlot(binary<arith::RemUIOp>(mapping.lane, indexConstant(warps)), type);
  Value memory = LLVM::LoadOp::create(builder, loc, memoryType(type), slot, memoryBytes(type));
  Value ofBlock = joinThreads(reduction, fromMemory(memory, type), warps);
  return distribution.tiling.clusterBlocks > 1 ? cluster.join(combiningOp(reduction), ofBlock) : ofBlock;
}

//===- Terms in shared memory ---------------------------------------------===//

Buffer TermExchange::termBuffer(linalg::GenericOp reduction) {
  int64_t length = distribution.tiling.segment;
  return {terms, termOf(reduction).getType(), {length}, {indexConstant(length)}};
}

// A block stores the terms of its own elements only.
Position TermExchange::inSegment(Value index) {
  return {{binary<arith::SubIOp>(index, distribution.segmentStart), 0, nullptr}};
}

LogicalResult TermExchange::storeTerms(linalg::GenericOp reduction, ArrayRef<Index> loops) {
  FailureOr<SmallVector<Value>> values = termsOf(reduction, loops);
  if (failed(values))
    return failure();
  ThreadMapping::PerThread perThread(mapping);
  auto store = [&](size_t number) {
    const RowRegisters::Vector &vector = registers.vectors[number];
    ArrayRef<Value> own = ArrayRef(*values).slice(number * vector.indices.size(), vector.indices.size());
    vectorized.storeVector(termBuffer(reduction), inSegment(vector.indices.front()), own);
    return success();
  };
  for (size_t number = 0; number < registers.vectors.size(); ++number) {
    Value present = registers.vectors[number].present;
    if (failed(present ? emitIf(present, [&] { return store(number); }) : store(number)))
      return failure();
  }
  return success();
}

SmallVector<Value> TermExchange::loadTerms(linalg::GenericOp reduction, ArrayRef<Value> indices) {
  Position first = inSegment(indices.front());
  return vectorized.loadVector(termBuffer(reduction), first, static_cast<int64_t>(indices.size()));
}
