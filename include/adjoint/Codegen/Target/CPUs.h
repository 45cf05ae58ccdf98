// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The CPUs that code is generated for, as tables: vector registers, dot-product instructions, caches and
// latencies, estimated times, and the tile tables (register tiles, cache blocks, units of work).

#ifndef ADJOINT_CODEGEN_TARGET_CPUS_H
#define ADJOINT_CODEGEN_TARGET_CPUS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <limits>
#include <optional>

namespace mlir::ad {

//===- Vector registers ---------------------------------------------------===//

/// Vector code counts lanes of 32 bits: a vector of 64-bit elements has two registers.
constexpr int64_t kLaneBytes = 4, kLaneBits = 8 * kLaneBytes;

struct VectorRegisters {
  llvm::StringLiteral feature; ///< the extension that has them, as LLVM names it; empty: every CPU has them
  int64_t bytes;               ///< of a register
  int64_t count;               ///< how many registers there are
};
inline constexpr VectorRegisters kAvx512 = {"+avx512f", 64, 32};
inline constexpr VectorRegisters kAvx = {"+avx", 32, 16};
inline constexpr VectorRegisters kSse = {"", 16, 16};

/// From wide to narrow.
inline constexpr VectorRegisters kVectorRegisters[] = {kAvx512, kAvx, kSse};

/// The widest registers of a CPU with these features.
inline const VectorRegisters &widestRegisters(llvm::function_ref<bool(llvm::StringRef)> hasFeature) {
  return *llvm::find_if(kVectorRegisters, [&](const VectorRegisters &registers) {
    return registers.feature.empty() || hasFeature(registers.feature);
  });
}

//===- Dot-product instructions -------------------------------------------===//

/// An instruction that multiplies groups of elements, which are contiguous along K, and adds their products
/// to lanes of 32 bits.
struct DotProductInstruction {
  llvm::StringLiteral feature;   ///< the extension that has it, as LLVM names it
  llvm::StringLiteral intrinsic; ///< of LLVM, without the bits of a vector
  int64_t group;                 ///< elements that a lane multiplies
  int64_t minLanes, maxLanes;    ///< of the vectors for which it exists; powers of two
  bool hasVectors(int64_t lanes) const { return lanes >= minLanes && lanes <= maxLanes; }
};
/// vdpbf16ps. It chooses order and rounding inside a pair and flushes subnormals.
inline constexpr DotProductInstruction kBF16DotProduct = {"+avx512bf16", "llvm.x86.avx512bf16.dpbf16ps.", 2,
                                                          16, 16};
/// vpdpbusd. It multiplies unsigned by signed bytes.
inline constexpr DotProductInstruction kByteDotProduct = {"+avx512vnni", "llvm.x86.avx512.vpdpbusd.", 4, 8,
                                                          16};

/// Elements of i8 in a lane.
constexpr int64_t kBytesPerLane = kByteDotProduct.group;

/// Whether a CPU with these features has both instructions. Every CPU with the one for bf16 has the one for
/// i8; a CPU without both uses neither.
inline bool hasDotProducts(llvm::function_ref<bool(llvm::StringRef)> hasFeature) {
  return hasFeature(kBF16DotProduct.feature) && hasFeature(kByteDotProduct.feature);
}

/// The extension that converts between f16 and f32, as LLVM names it.
constexpr llvm::StringLiteral kHalfConversions = "+f16c";

/// An extension that code leaves alone: its shuffle (insertq), which LLVM prefers for bytes, has no form for
/// AVX and takes 123 ns instead of 1 on Zen 3 while the upper half of any vector register is in use.
constexpr llvm::StringLiteral kUnusedExtension = "sse4a";

//===- Caches and latencies -----------------------------------------------===//

/// The core that code is tuned for.
struct CoreTable {
  int64_t lineBytes;        ///< of a cache line
  int64_t pageBytes;        ///< where the hardware prefetcher stops; rows that are a multiple of it apart map
                            ///< to one set of the first-level cache
  int64_t secondLevelBytes; ///< of the second-level cache: a larger tensor does not stay in it
  int64_t lastLevelBytes;   ///< of one core's part of the last-level cache
  int64_t additionLatency;  ///< cycles until the sum of a floating-point addition can be added to
  int64_t additionsPerCycle; ///< floating-point additions of vectors that start in one cycle
};
/// Zen 4, on which the thresholds were measured; other current cores are close.
inline constexpr CoreTable kCore = {64, 4096, 1024 * 1024, 8 * 1024 * 1024, 4, 2};

/// About how many picoseconds a step takes on one thread with operands from memory: good enough to tell work
/// for threads from work that is too short for them.
struct StepTimes {
  int64_t fmaOfByte;  ///< an FMA, for each byte of its accumulator
  int64_t element;    ///< an element of an operation that is no contraction
  int64_t function;   ///< an elementary function, in addition
  int64_t result;     ///< an element that is stored
  int64_t loadedByte; ///< a byte of a contraction's operand
};
inline constexpr StepTimes kStepTimes = {4, 200, 500, 200, 12};

//===- Tile tables --------------------------------------------------------===//

/// The sizes in which kernels work through registers and caches. Code depends on them, results never do.
struct TileTable {
  llvm::StringRef name;
  int64_t minVectorBytes;   ///< The table is for vectors of at least this size.
  int64_t rows, vectors;    ///< A register tile has at most this many rows and vectors (chooseRegisterTile).
  int64_t registers;        ///< A register tile uses at most this many registers.
  int64_t accumulators;     ///< A register tile has at most this many, enough to hide the latency of an FMA.
  int64_t blockBytes;       ///< An operand's cached block of columns takes half of the second-level cache.
  int64_t straightBytes;    ///< An operand up to this size is read in place.
  int64_t conflictRows;     ///< With this many rows it is packed if its panels do not fit the few sets of the
                            ///< first-level cache that its rows map to.
  int64_t alignedBytes;     ///< Vectors of a larger operand begin at cache lines: the first-level cache.
  int64_t shortNanoseconds; ///< A kernel that takes less, by estimate, is one unit of work.
  int64_t tileSteps;        ///< A unit of a contraction has this many FMAs, if the contraction has enough.
  int64_t unitElements;     ///< A unit of a kernel that does little per element has this many elements.
};

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// `large` is for current cores; `small` is for tests, in which short programs meet blocks, packed operands
/// and what is left over.
inline constexpr TileTable kTileTables[] = {
    {"large", kAvx512.bytes, 8, 16, kAvx512.count, 16, kCore.secondLevelBytes / 2, kCore.secondLevelBytes,
     kNever, 32 * 1024, 3000, 1 << 16, 1024},
    {"large", 0, 6, 8, kAvx.count, 12, kCore.secondLevelBytes / 2, kCore.secondLevelBytes, 48, 32 * 1024,
     3000, 1 << 16, 1024},
    {"small", 0, 3, 2, 32, 12, 16 * 1024, 256, 6, 128, 0, 256, 64},
};

/// The table of that name for vectors of so many bytes.
inline std::optional<TileTable> findTiles(llvm::StringRef name, int64_t vectorBytes) {
  const auto *found = llvm::find_if(kTileTables, [&](const TileTable &table) {
    return table.name == name && vectorBytes >= table.minVectorBytes;
  });
  return found == std::end(kTileTables) ? std::nullopt : std::optional(*found);
}

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_TARGET_CPUS_H
