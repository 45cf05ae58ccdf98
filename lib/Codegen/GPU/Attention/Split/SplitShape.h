// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How attention of few queries is divided over the machine. Its keys are cut where the written order allows
// it: scores at any key, products of weights and values at blocks of the order of ad.dot, sums of weights at
// chunks of the order of ad.reduce_sum. Three launches compute scores, these parts, and what joins them.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSHAPE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSHAPE_H

#include "../Mma/MmaShape.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Numerics/Order.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::ad::device {

struct SplitShape {
  SplitShape(const AttentionShape &attention, bool tensorCores);
  /// Why the launches do not compute it, or not faster than other kernels; empty if they do.
  /// `mayUseTensorCores`: the type and the permissions allow it.
  static std::string whyNot(const AttentionShape &attention, bool mayUseTensorCores);
  /// Whether products of rows of that shape are on tensor cores where they may be.
  static bool fitsTensorCores(const AttentionShape &attention);

  static constexpr int64_t kThreads = 128, kWarps = kThreads / kWarpThreads;
  /// Those of a block of parts.
  static constexpr int64_t kPartThreads = 256;
  /// Keys of a block of scores: one of each thread.
  static constexpr int64_t kSlab = kThreads;
  /// Keys of a block of products, and of a sum of weights.
  static constexpr int64_t kLeaf = numerics::canonicalBlock, kNode = numerics::canonicalChunk;
  /// Keys whose values are staged at once, and weights that a thread loads as one vector.
  static constexpr int64_t kStageKeys = 64, kVector = 4;
  static constexpr int64_t kLanes = numerics::canonicalLanes;
  /// Parts that a thread loads before it joins them.
  static constexpr int64_t kParts = 8;
  /// Columns and steps of `mma.sync`.
  static constexpr int64_t kN = MmaShape::kN, kK = MmaShape::kK;

  bool tensorCores;
  int64_t elementBytes, bytes; ///< of an element of operands, and of a number
  int64_t rows;                ///< of a tile
  int64_t depthVector;         ///< elements of the depth that a thread loads at once
  int64_t slice;               ///< of the depth, which is staged at once
  int64_t columns;             ///< of the values, of a tile of products
  int64_t longestChunk;        ///< keys; kMaxMemoryBytes if it is not known

  //===- Scores -===//

  int64_t slicePitch() const { return slice * elementBytes + kChunkBytes; } ///< bytes of a staged key
  int64_t queryStride() const { return slice + kVector; }                   ///< numbers of a staged query
  int64_t queries() const { return kSlab * slicePitch(); }
  int64_t exchange() const { return queries() + rows * queryStride() * bytes; }
  int64_t exchangeStride() const { return kSlab + kVector; }
  int64_t maxima() const { return exchange() + (tensorCores ? rows * exchangeStride() * bytes : 0); }
  LaunchShape scores() const;

  //===- Parts -===//

  int64_t rowGroups() const { return kPartThreads / columns; } ///< threads that share a column
  int64_t rowsOfThread() const { return llvm::divideCeil(rows, rowGroups()); }
  int64_t columnTilesOfWarp() const { return llvm::divideCeil(columns / kN, kPartThreads / kWarpThreads); }
  /// Whether a chunk has one leaf and one node: then the block of the leaf has all weights to sum.
  bool sumsInLeaves() const { return longestChunk <= kLeaf; }
  int64_t keysOfLeaf() const { return llvm::alignTo(std::min(kLeaf, longestChunk), kPartThreads); }
  int64_t weightStride() const { return keysOfLeaf() + kVector; }
  int64_t valuePitch() const { return columns * elementBytes + kChunkBytes; }
  int64_t stageBytes() const { return kStageKeys * valuePitch(); }
  int64_t stages() const;
  int64_t weights() const { return llvm::alignTo(stages() * stageBytes(), kChunkBytes); }
  int64_t ofRows() const { return weights() + rows * weightStride() * bytes; }
  LaunchShape parts() const;

  //===- Join -===//

  LaunchShape join() const;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_SPLIT_SPLITSHAPE_H
