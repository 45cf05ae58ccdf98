// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SplitShape.h"
#include "../AttentionTimes.h"
#include "../Mma/MmaShape.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Rows of a tile whose sums a thread has in registers, and of a sequence and its group: there is memory for
// their scores.
static constexpr int64_t kRowBytes = 64, kMostRows = 64;
// A thread loads at most so many elements of the depth at once, and a key has so many bytes of them staged.
static constexpr int64_t kDepthVector = 8, kSliceBytes = 256, kMostSlice = 128;
static constexpr int64_t kFewestColumns = 32, kMostColumns = 128, kColumnBytes = 256;
// Of stages of values, for which shared memory is on every chip.
static constexpr int64_t kRingBytes = 56 * 1024, kMostStages = 16;
// A chunk of fewer keys would leave most threads of a slab without one.
static constexpr int64_t kShortestChunk = 64;

bool SplitShape::fitsTensorCores(const AttentionShape &attention) {
  return attention.depth % kK == 0 && attention.depth <= numerics::canonicalBlock &&
         attention.width % kK == 0;
}

SplitShape::SplitShape(const AttentionShape &attention, bool tensorCores)
    : tensorCores(tensorCores), elementBytes(llvm::divideCeil(attention.element.getIntOrFloatBitWidth(), 8)),
      bytes(attention.accumulator.getIntOrFloatBitWidth() / 8),
      longestChunk(attention.mostKeysOfChunk().value_or(kMaxMemoryBytes)) {
  int64_t all = attention.rowsOfBlock(), tilesOfBlock = llvm::divideCeil(all, kRowBytes / bytes);
  rows = std::max<int64_t>(llvm::divideCeil(all, std::max<int64_t>(tilesOfBlock, 1)), 1);
  depthVector = std::min(kAccessBytes / elementBytes, kDepthVector);
  int64_t mostSlice = std::min(kSliceBytes / elementBytes, kMostSlice);
  slice = std::min<int64_t>(mostSlice, llvm::alignTo(attention.depth, depthVector));
  // Fewer columns where more would leave multiprocessors without any.
  int64_t most = std::min(kMostColumns, kColumnBytes / elementBytes);
  columns = std::clamp<int64_t>(llvm::PowerOf2Ceil(attention.width), kFewestColumns, most);
  int64_t keys = attention.key.getDimSize(2), tiles = attention.tileCount(rows).value_or(kDefaultSMCount);
  int64_t leaves =
      ShapedType::isDynamic(keys) ? kDefaultSMCount : llvm::divideCeil(keys, std::min(kLeaf, longestChunk));
  while (columns > kFewestColumns &&
         tiles * leaves * int64_t(llvm::divideCeil(attention.width, columns)) < kDefaultSMCount)
    columns /= 2;
}

int64_t SplitShape::stages() const { return std::clamp<int64_t>(kRingBytes / stageBytes(), 2, kMostStages); }

std::string SplitShape::whyNot(const AttentionShape &attention, bool mayUseTensorCores) {
  int64_t queries = attention.query.getDimSize(2);
  if (ShapedType::isDynamic(queries) || attention.rowsOfBlock() > kMostRows || queries == 0)
    return "it has many queries, or an open number";
  if (mayUseTensorCores && !fitsTensorCores(attention) &&
      std::max(attention.depth, attention.width) > MmaShape::kLongestRow)
    return "its rows fit the tensor cores of its loops, but not those of its kernels";
  if (attention.chunk && *attention.chunk < kShortestChunk)
    return "its chunks of keys are short";
  if (!isSplitFaster(attention, mayUseTensorCores))
    return "it has few keys, or enough rows for one kernel";
  return {};
}

static LaunchShape launchOf(int64_t sharedBytes, int64_t threads = SplitShape::kThreads) {
  LaunchShape shape = {MappingLevel::block, /*result=*/0, /*axes=*/3};
  shape.tile = {1};
  shape.threadsPerBlock = threads;
  shape.dynamicSharedBytes = sharedBytes;
  return shape;
}

LaunchShape SplitShape::scores() const { return launchOf(maxima() + rows * kWarps * bytes); }

// The weights of a node are where stages of values and weights of leaves are.
LaunchShape SplitShape::parts() const {
  return launchOf(std::max(ofRows() + rows * bytes, sumsInLeaves() ? 0 : kNode * bytes), kPartThreads);
}

LaunchShape SplitShape::join() const { return launchOf(2 * kThreads * bytes); }
