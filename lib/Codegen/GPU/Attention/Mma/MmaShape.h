// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How the kernel by tensor cores divides a tile, and its shared memory. Each warp has 16 rows, whose scores
// of a chunk stay in its registers.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMASHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMASHAPE_H

#include "../AttentionShape.h"
#include "SwizzledRows.h"

namespace mlir::ad::device {

struct MmaShape {
  /// None where the kernel by FMA has to compute it: other types, many keys in a chunk, long rows.
  static std::optional<MmaShape> find(const AttentionShape &attention);
  static bool hasType(const AttentionShape &attention) {
    return attention.element.isF16() || attention.element.isBF16();
  }
  /// Whether tensor cores take the elements of such a row in whole steps, and a thread has registers for it.
  static bool fitsRow(int64_t elements) { return elements % kK == 0 && elements <= kLongestRow; }

  /// `mma.sync` of 16-bit floats: rows, columns, and steps of a product.
  static constexpr int64_t kM = 16, kN = 8, kK = 16;
  /// Elements of a row for whose sums a thread has registers, at most.
  static constexpr int64_t kLongestRow = 128;
  /// Keys that are staged at once.
  static constexpr int64_t kKeys = 64;

  int64_t depth, width;
  int64_t warps;
  int64_t keyTiles; ///< of a chunk
  int64_t rows() const { return warps * kM; }
  int64_t threads() const { return warps * 32; }
  int64_t keys() const { return keyTiles * kKeys; }
  /// Tiles of keys and then of values of a chunk are staged one after the other.
  int64_t steps() const { return 2 * keyTiles; }
  /// Those in shared memory at a time: a divisor of the steps, so that the place of a step is known.
  int64_t stages() const { return steps() % 4 == 0 ? 4 : 2; }

  /// Bytes from one staged row to the next.
  int64_t depthPitch() const { return SwizzledRows::pitchOf(depth); }
  int64_t widthPitch() const { return SwizzledRows::pitchOf(width); }
  int64_t stageBytes() const { return kKeys * std::max(depthPitch(), widthPitch()); }
  int64_t firstStage() const { return rows() * depthPitch(); }
  int64_t sharedBytes() const { return firstStage() + stages() * stageBytes(); }

  LaunchShape launch() const;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_MMA_MMASHAPE_H
