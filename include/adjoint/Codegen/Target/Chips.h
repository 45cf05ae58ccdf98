// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The GPU chips that code is generated for: one table with the PTX version, the shared memory and the
// instructions of each, and the limits that all of them share (CUDA C++ Programming Guide, compute
// capabilities; PTX ISA). Register layouts and shapes of an instruction are with the code that emits it
// (MmaFragments.h, SwizzledTile.h).

#ifndef ADJOINT_CODEGEN_TARGET_CHIPS_H
#define ADJOINT_CODEGEN_TARGET_CHIPS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::ad {

struct Chip {
  StringLiteral name;  ///< as LLVM and ptxas name it
  StringLiteral ptx;   ///< the oldest PTX version that has the chip and the instructions of our kernels
  int64_t sharedBytes; ///< shared memory of a block, at most, on every GPU that can run the code
  bool hasWgmma;       ///< the code may use `wgmma`
  /// Blocks of a cluster, which may read each other's shared memory, on every GPU that can run the code; 1
  /// without clusters.
  int64_t clusterBlocks;
  /// The oldest PTX version that has `mma.sync` of 8-bit floats; empty if the chip lacks it.
  StringLiteral ptxOfByteFloats;
};
/// All of them, the oldest one first.
ArrayRef<Chip> chips();
/// The chip of that name, and all names in a sentence for diagnostics.
std::optional<Chip> findChip(StringRef name);
std::string chipNames();

} // namespace mlir::ad

namespace mlir::ad::device {

//===- Threads and registers ----------------------------------------------===//

/// Threads of a warp, which agree by shuffles. Blocks consist of whole warps.
constexpr int64_t kWarpThreads = 32;
/// Threads of a warpgroup, which execute `wgmma` together.
constexpr int64_t kWarpgroupThreads = 128;
/// Registers of 32 bits of a multiprocessor.
constexpr int64_t kRegistersPerSM = 64 * 1024;
/// The multiprocessors of an H100, which decisions at compile time assume.
constexpr int64_t kDefaultSMCount = 132;

//===- Memory -------------------------------------------------------------===//

/// The widest load or store of a thread.
constexpr int64_t kAccessBytes = 16;
/// The memory transaction: accesses of a warp to one sector are one transaction.
constexpr int64_t kSectorBytes = 32;
/// No GPU has a terabyte: a tensor in its memory has fewer bytes.
constexpr int64_t kMaxMemoryBytes = int64_t(1) << 40;
/// Shared memory has so many banks, whose words have so many bytes; kBankRowBytes are one word of each bank.
constexpr int64_t kBanks = 32, kBankBytes = 4, kBankRowBytes = kBanks * kBankBytes;
/// Static shared memory of a block; more is dynamic shared memory, which a launch requests.
constexpr int64_t kStaticSharedBytes = 48 * 1024;
/// The narrowest and the widest `cp.async`. The widest is also the unit of swizzles.
constexpr int64_t kMinCopyBytes = 4, kChunkBytes = 16;
/// The address spaces of LLVM's NVPTX target.
constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3, kClusterSpace = 7;

//===- Tensor maps (CUDA driver API: cuTensorMapEncodeTiled) --------------===//

/// Bytes of a tensor map, which is aligned to 64 of them.
constexpr int64_t kTensorMapBytes = 128, kTensorMapAlignment = 64;
/// An operand has at most so many axes, fewer elements than that, and rows of a multiple of so many bytes.
constexpr int64_t kTensorMapAxes = 5, kTensorMapElements = int64_t(1) << 31, kTensorMapRowBytes = 16;

} // namespace mlir::ad::device

#endif // ADJOINT_CODEGEN_TARGET_CHIPS_H
