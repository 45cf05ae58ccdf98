// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions on chips whose warpgroups multiply from shared memory (sm_90a). One warpgroup copies: a thread
// of it has the operands' tiles brought by tensor maps, ahead through a ring of stages. The others multiply,
// and make results of their sums while the tiles of the next part of the result are on their way.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_WARPGROUPEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_WARPGROUPEMITTER_H

#include "ContractionEmitter.h"
#include "Ring.h"
#include "SwizzledTile.h"

namespace mlir::ad::device {

class WarpgroupEmitter : public ContractionEmitter {
public:
  using ContractionEmitter::ContractionEmitter;

  int64_t minBlocksPerSM() const override;

private:
  /// An operand: its tiles in a stage of the ring, what of them the block brings, and the argument that is
  /// its tensor map.
  struct Source {
    Staged part;
    SwizzledTile tile;
    int64_t sharers; // blocks that bring equal parts of a tile to each other
    Value map;
    int64_t offset; // bytes from the start of a stage
    SwizzledTile share() const {
      return {tile.extent / sharers, tile.depth, tile.alongDepth, tile.elementBytes};
    }
  };
  /// A part of the result that the block computes, and how many pieces went through the ring before.
  using TileCode = function_ref<LogicalResult(const Place &place, Value before)>;

  /// The sums of a warp on their way to results: its 16 rows by some columns.
  static constexpr int64_t kSumRows = 16, kSumColumns = 32, kSumBytes = kSumRows * kSumColumns * 4;

  // --- WarpgroupEmitter.cpp: the kernel as a whole, and the warpgroup that copies
  LogicalResult emitRoots() override;
  LogicalResult addSources();
  TensorMapAttr mapOf(const Source &source);
  void emitPrologue();
  LogicalResult forTiles(TileCode code);
  void limitRegisters(bool copies);
  LogicalResult emitCopies();
  void copyPiece(const Place &place, Value piece, Value depth);
  void copyShare(const Source &source, const Place &place, Value piece, Value depth, Value full);
  void synchronizeCluster();

  // --- WarpgroupProducts.cpp: the warpgroups that multiply
  LogicalResult emitProducts();
  Value multiplyPieces(Value before);
  Value multiplyPiece(Value piece, Value sums);
  Value operandOf(const Source &source, Value piece, Value byte);
  void releasePiece(Value piece, Value block, Value condition);
  LogicalResult emitResultsOf(const Place &place, Value sums);
  void storeColumns(const Sums &inShared, Value chunk, Value sums);
  void storeColumns(const Sums &inShared, int64_t chunk, Value sums);

  int64_t elementBytes() const { return memoryBytes(operandType()); }

  // Shared memory: the ring's stages, the sums of each warp, the ring's mbarriers.
  int64_t stageBytes() const { return (tile.rows + tile.columns) * tile.depth * elementBytes(); }
  int64_t warpCount() const { return tile.warpgroups * kWarpgroupThreads / kWarpThreads; }
  int64_t sumsStart() const { return tile.stages * stageBytes(); }
  int64_t barriersStart() const { return sumsStart() + warpCount() * kSumBytes; }
  Ring ring() {
    return {
        builder, loc, shared, {tile.stages, stageBytes(), tile.warpgroups, barriersStart(), tile.cluster}};
  }
  Value pieceCount();

  SmallVector<Source, 2> sources; // the rows' operand, and the columns'
  Value warpgroup;                // of the thread, in its block; the first one copies
  Value inCluster;                // number of the block
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_WARPGROUPEMITTER_H
