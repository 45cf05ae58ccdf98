// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions in nested chains. A thread block computes a tile of the order for a group of adjacent
// chains. Each of its threads has a block of the order: first it computes the total of the block, then one
// thread for each chain turns totals into carries, and then each thread computes its block again and stores
// `carry ∘ step`. So elements are read twice, the second time from the caches if a tile fits, and no thread
// waits for another thread block.
//
// Where memory is contiguous along the scanned axis, a warp loads and stores squares of 32 steps and 32
// blocks through shared memory, so that accesses are coalesced. Otherwise adjacent threads have adjacent
// chains.
//
// The tiles of few long chains are divided over the grid: one kernel computes their totals, and a second one
// is the whole kernel, where each thread block starts with the totals of the tiles before its first one.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANTILES_H
#define ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANTILES_H

#include "../Generic/GPUKernelEmitter.h"
#include "ScanMatch.h"
#include "ScanShape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad::device {

class ScanTiles : public GPUKernelEmitter {
public:
  ScanTiles(KernelOp kernel, FunctionOpInterface function, const TiledScan &scan)
      : GPUKernelEmitter(kernel, function), scan(scan) {}

  int64_t minBlocksPerSM() const override {
    return scan.isContiguous ? kMinBlocksOfRows : kMinBlocksOfColumns;
  }

protected:
  /// Computes the values below from the sizes of the operands.
  void layOut();
  Buffer totalsOfTiles(Value memory);

  const TiledScan scan;
  Value length, chains, blocks, tiles; // elements of a chain, chains, blocks and tiles of a chain
  Value chainsOfGroup, groups;

private:
  /// The tile of the order that the thread block computes, for a group of chains.
  struct Tile {
    Value number;
    Value firstChain, chains; // of the group
    Value blocks;             // of the order that each chain has in it
    Value count;              // of the blocks of all chains
  };
  /// One block of the order. Its first element is `lower + offset`: blocks that are a constant distance apart
  /// share an address.
  struct Block {
    Value chain; // its number among all chains
    Value lower;
    int64_t offset;
  };
  enum class Pass { totals, results };

  LogicalResult emitOutputs() override;
  void describeLaunch();
  void allocate();
  /// Whether a block may continue another one.
  bool hasCarries();
  FailureOr<Value> emitTile(const Tile &tile, Value carry);
  Value carryBefore(const Tile &tile);
  FailureOr<Value> joinTotals(const Tile &tile, Value carry);
  LogicalResult emitPass(const Tile &tile, Pass pass);
  Tile tileOf(Value task);
  /// The block with the number `first + offset`, which is below the count. `first` is a multiple of 32 if the
  /// offset is not 0.
  Block blockAt(const Tile &tile, Value first, int64_t offset = 0);
  Value lowerOf(const Block &block);
  Value upperOf(const Block &block);
  Value stepOf(const Block &block, Value step);
  SmallVector<Index> loopsOf(Value chain, Value step);
  FailureOr<Value> startOf(const Block &block);
  FailureOr<Value> valueAt(ArrayRef<Index> loops);
  Value combine(Value accumulator, Value value);
  Value loadTotal(Value number);
  void storeTotal(Value number, Value total);

  // Where adjacent threads have adjacent chains
  LogicalResult emitColumns(const Tile &tile, Pass pass);
  FailureOr<Value> columnSteps(const Block &block, Pass pass, Value carry, Value start, Value lower,
                               Value upper, int64_t unroll);

  // Where a chain is contiguous
  LogicalResult emitRows(const Tile &tile, Pass pass);
  FailureOr<Value> emitSquare(const Tile &tile, Pass pass, Value first, Value step, Value carry,
                              Value accumulator);
  Value isWhole(const Tile &tile, Value first, Value step);
  FailureOr<Value> loadPresent(const Tile &tile, Value number, Value step);
  LogicalResult overSquare(Value isWhole, function_ref<LogicalResult(Value, int64_t, bool)> code);
  LogicalResult loadBlocks(const Tile &tile, Value first, Value row, int64_t count, Value own, bool whole);
  LogicalResult loadSquare(const Tile &tile, Value first, Value step);
  LogicalResult storeAt(const Block &block, Value at, Value kept);
  LogicalResult storeBlocks(const Tile &tile, Value first, Value row, int64_t count, Value own, bool whole);
  LogicalResult storeSquare(const Tile &tile, Value first, Value step);
  Value addressInSquare(Value row, Value column);

  Value totals, square; // in shared memory; the square is that of this thread's warp
  int64_t capacity = 0; // of the totals
};

/// The host function that computes the sizes of the totals of divided tiles, as PartialSizes does for
/// reductions.
class ScanSizes : public ScanTiles {
public:
  ScanSizes(KernelOp kernel, func::FuncOp host, const TiledScan &scan, const Division &division)
      : ScanTiles(kernel, host, scan), host(host), division(division) {}

  FailureOr<bool> emitSizes();

private:
  void bindRange(ValueRange arguments) override { smCount = arguments.front(); }

  func::FuncOp host;
  const Division &division;
  Value smCount;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SCAN_SCANTILES_H
