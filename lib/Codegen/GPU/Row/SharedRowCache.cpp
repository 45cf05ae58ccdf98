// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SharedRowCache.h"
#include "../Generic/SharedMemory.h"
#include "ChunkSums.h"
#include "RowDistribution.h"
#include "RowEmitter.h"
#include "RowLiveness.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Elements of a row per thread of its block, and the threads of a block.
static constexpr int64_t kElementsPerThread = 32, kMinThreads = 64, kMaxThreads = 512;

static int64_t rowBytes(const Buffer &buffer) { return buffer.shape.back() * memoryBytes(buffer.element); }

// The widest copies that divide a row.
static int64_t copyBytes(const Buffer &buffer) {
  int64_t bytes = kChunkBytes;
  while (rowBytes(buffer) % bytes != 0)
    bytes /= 2;
  return bytes;
}

// First arguments that several passes read, then expensive operands of reductions, as long as there is room.
bool SharedRowCache::chooseTensors() {
  if (ShapedType::isDynamic(rows.length) || rows.length < kernel.getOrderAttr().getLanes() || rows.sumsAlong)
    return false;
  int64_t bytes = kSumBytes;
  auto add = [&](Value tensor) {
    Buffer row{nullptr, getElementTypeOrSelf(tensor.getType()), {rows.length}, {indexConstant(rows.length)}};
    int64_t own = llvm::alignTo(rowBytes(row), kChunkBytes);
    if (!distribution.hasGridRows(tensor) || copyBytes(row) < kMinCopyBytes || bytes + own > maxSharedBytes)
      return;
    bytes += own;
    stagedRows[tensor] = {row};
  };
  llvm::for_each(argumentsReadAgain(kernel, rows.length), add);
  if (stagedRows.empty())
    return false;
  auto isCostly = [](Value value) {
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    return generic && isExpensive(generic);
  };
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    if (generic.getNumReductionLoops() > 0)
      llvm::for_each(RowDistribution::sourcesOf(generic, isCostly), add);
  return true;
}

int64_t SharedRowCache::vectorLength() const {
  int64_t widest = 1;
  for (auto &[tensor, row] : stagedRows)
    widest = std::max(widest, memoryBytes(row.buffer.element));
  return kAccessBytes / widest;
}

void SharedRowCache::allocate() {
  Value start = sharedMemory(builder, function, /*bytes=*/0, "rows", kChunkBytes);
  for (auto &[tensor, row] : stagedRows) {
    row.buffer.pointer = addBytes(builder, loc, start, indexConstant(launchShape.dynamicSharedBytes));
    launchShape.dynamicSharedBytes += llvm::alignTo(rowBytes(row.buffer), kChunkBytes);
  }
  int64_t threads = llvm::bit_ceil<uint64_t>(rows.length / kElementsPerThread);
  launchShape.threadsPerBlock = std::clamp(threads, kMinThreads, kMaxThreads);
}

void SharedRowCache::loadRow() {
  mapping.synchronizeBlock(); // all threads have read the row before
  for (auto &[tensor, row] : stagedRows) {
    row.filled = isa<BlockArgument>(tensor);
    if (row.filled)
      copyRow(buffers.find(tensor)->second, row.buffer);
  }
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  mapping.synchronizeBlock();
}

void SharedRowCache::copyRow(const Buffer &source, const Buffer &target) {
  int64_t bytes = copyBytes(source), step;
  // Only copies of 16 bytes can bypass the L1 cache.
  auto cache = bytes == kChunkBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  Position first(distribution.row);
  first.push_back({indexConstant(0), 0, nullptr});
  Value indices;
  Value start = memoryAccess.pointerAt(source, memoryAccess.linearIndex(source, first, step, indices));
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  start = LLVM::AddrSpaceCastOp::create(builder, loc, global, start);
  (void)emitLoop(mapping.threadInBlock, indexConstant(rowBytes(source) / bytes), mapping.blockThreads,
                 [&](Value number) {
                   Value offset = binary<arith::MulIOp>(number, indexConstant(bytes));
                   NVVM::CpAsyncOp::create(builder, loc, addBytes(builder, loc, target.pointer, offset),
                                           addBytes(builder, loc, start, offset), bytes, cache,
                                           /*cpSize=*/Value());
                   return success();
                 });
}

// The sum of a block starts with a barrier, after which the staged rows are visible.
LogicalResult SharedRowCache::fillFor(linalg::GenericOp reduction) {
  auto isComputed = [&](Value value) { return !isa<BlockArgument>(value) && stagedRows.count(value); };
  for (Value tensor : RowDistribution::sourcesOf(reduction, isComputed)) {
    StagedRow &staged = stagedRows.find(tensor)->second;
    if (!staged.filled && failed(computeRow(tensor, staged.buffer)))
      return failure();
    staged.filled = true;
  }
  return success();
}

LogicalResult SharedRowCache::computeRow(Value tensor, const Buffer &target) {
  ThreadMapping::PerThread perThread(mapping);
  int64_t vector = distribution.tiling.vector;
  Value count = indexConstant(vector), length = indexConstant(rows.length);
  Value first = binary<arith::MulIOp>(mapping.threadInBlock, count);
  Value step = binary<arith::MulIOp>(mapping.blockThreads, count);
  return emitLoop(first, length, step, [&](Value index) -> LogicalResult {
    SmallVector<Position> inRow, positions;
    for (Value at : vectorized.consecutiveIndices(index, vector)) {
      inRow.push_back({{at, 0, nullptr}});
      positions.push_back(distribution.row);
      positions.back().push_back({at, 0, nullptr});
    }
    FailureOr<SmallVector<Value>> values = evaluator.evaluate(tensor, positions);
    if (succeeded(values))
      emitter.storeAll(target, inRow, *values);
    return values;
  });
}

Value SharedRowCache::lookup(Value tensor, const Position &position) {
  auto found = stagedRows.find(tensor);
  if (!distribution.tiling.inShared || found == stagedRows.end() || !found->second.filled)
    return nullptr;
  const Position &row = distribution.row;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  for (auto [size, index, ofRow] : llvm::zip(shape, position, row))
    if (size != 1 && (index.base != ofRow.base || !index.isUniform()))
      return nullptr;
  return vectorized.loadFrom(found->second.buffer, static_cast<int64_t>(row.size()), tensor, position);
}
