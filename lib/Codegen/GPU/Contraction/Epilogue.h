// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The epilogue of contraction kernels: accumulators go from registers through shared memory to threads that
// have contiguous elements of a row, which compute the rest of the fusion and store its results. All
// contraction kernels share it.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_EPILOGUE_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_EPILOGUE_H

#include "TileMapping.h"

namespace mlir::ad::device {

/// Accumulators in shared memory, and the threads that compute results of them in one pass.
struct StagedAccumulators {
  Value m, n;            // the first row and column, in the tile
  int64_t rows, columns; // how many
  Value offset;          // bytes from the start of shared memory
  Value thread;          // number of the thread among those of the pass
  int64_t threads;       // how many there are
  // The rows form groups of consecutive rows; in the tile, groups begin at multiples of the stride.
  int64_t groupRows = rows, groupStride = rows;
};

class Epilogue : public ContractionComponent {
public:
  Epilogue(ContractionEmitter &emitter, TileMapping &tileMapping)
      : ContractionComponent(emitter), tileMapping(tileMapping) {}

  /// Code of this scope has the number of the thread from a shuffle, so that no address of the epilogue is
  /// computed before the products, where it would occupy a register.
  class OwnThread {
  public:
    explicit OwnThread(Epilogue &epilogue);
    ~OwnThread();

  private:
    ThreadMapping &mapping;
    Value thread, lane;
  };

  /// The rows of a tile whose accumulators fit into static shared memory, or into that of the stages which
  /// TMA loads, a divisor of those of a pass.
  int64_t rowsPerPass();
  int64_t rowBytes() { return tile.n * memoryBytes(accumulatorType()); }
  /// Accumulators of some rows, staged by all threads of the block.
  StagedAccumulators stagedByBlock(int64_t firstRow, int64_t rows);
  /// Stores accumulators of consecutive columns, at most a chunk, aligned to their number.
  void stage(const StagedAccumulators &staged, Value row, Value column, ValueRange values);
  /// Computes the kernel's results from staged accumulators, and stores them; in the first kernel of a
  /// divided K, stores the accumulators, which are nodes.
  LogicalResult emit(const TileOrigin &origin, const StagedAccumulators &staged);

private:
  LogicalResult emitVectors(const TileOrigin &origin, const StagedAccumulators &staged, int64_t length);
  LogicalResult emitRows(const TileOrigin &origin, const StagedAccumulators &staged, int64_t length);
  LogicalResult emitLoadingFirst(const TileOrigin &origin, const StagedAccumulators &staged, int64_t length);
  bool readsOthers();
  Value isWhole(const TileOrigin &origin);
  LogicalResult loadOthers(ArrayRef<Position> positions);
  LogicalResult storeElements(ArrayRef<Position> positions, ValueRange sums);
  int64_t vectorLength();
  Value columnInTile(const StagedAccumulators &staged, int64_t length);
  Value rowInTile(const StagedAccumulators &staged, Value row);
  Value pointerAt(const StagedAccumulators &staged, Value row, Value column);
  SmallVector<Value> load(const StagedAccumulators &staged, Value row, Value column, int64_t count);

  TileMapping &tileMapping;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_EPILOGUE_H
