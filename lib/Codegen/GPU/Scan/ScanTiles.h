// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions in nested chains. A thread block computes a tile of the order for a group of adjacent
// chains. Each of its threads has a block of the order: first it computes the total of the block, then one
// thread for each chain turns totals into carries, and then each thread computes its block again and stores
// `carry ∘ step`. So elements are read twice, the second time from the caches if a tile fits, and no thread
// waits for another thread block.
//
// Where memory is contiguous along the scanned axis, a warp loads and stores squares of 32 steps and 32
// blocks through shared memory, so that accesses are coalesced. A few chains whose steps alternate in memory
// are squares, too: such a bundle has a run of memory for each block of the order, and a thread computes
// every `columns`-th element of it. Of more chains, adjacent threads have adjacent ones.
//
// The tiles of few long chains are divided over the grid: one kernel computes their totals, and a second one
// is the whole kernel, where each thread block starts with the totals of the tiles before its first one. Of
// fewer chains, the tiles have parts: then the totals are those of blocks.

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
    return scan.columns == 1   ? kMinBlocksOfRows
           : scan.hasSquares() ? kMinBlocksOfSquares
                               : kMinBlocksOfColumns;
  }

protected:
  /// Computes the values below from the sizes of the operands.
  void layOut();
  /// What the first kernel of a divided running reduction computes.
  Buffer totalsInMemory(Value memory);
  unsigned axisOfSteps(); // of the result
  Value chainsOf(Value bundles);

  const TiledScan scan;
  Value length, blocks, parts; // elements of a chain, its blocks of the order, and parts of its tiles
  Value bundles;               // all of them: chains, if those do not alternate
  Value bundlesOfGroup, groups;

private:
  /// The tile of the order that the thread block computes, or the part of one, for a group of chains.
  struct Tile {
    Value number;               // of the part in its chains
    Value firstBundle, bundles; // of the group
    Value blocks;               // of the order that each chain has in it
    Value count;                // of the blocks of all bundles
  };
  /// One block of the order, in all chains of a bundle. Its first element is `lower + offset`: blocks that
  /// are a constant distance apart share an address.
  struct Block {
    Value bundle;
    Value lower;
    int64_t offset;
  };
  enum class Pass { totals, results };
  /// In the thread that has a chain: the total of the tiles before, and that of the blocks before in the same
  /// tile.
  struct Before {
    Value carry, sum;
  };

  LogicalResult emitOutputs() override;
  void describeLaunch();
  void allocate();
  /// Whether a block may continue another one.
  bool hasCarries();
  bool hasTotalsInMemory();
  FailureOr<Value> emitTile(const Tile &tile, const Before &before);
  Value sumTotals(Value lower, Value upper, Value start, function_ref<Value(Value)> load);
  Value carryBefore(const Tile &tile);
  Before sumsBefore(const Tile &tile);
  Before totalsBefore(const Tile &tile, Value isFirstTask, Value carry);
  FailureOr<Value> joinTotals(const Tile &tile, const Before &before);
  LogicalResult emitPass(const Tile &tile, Pass pass);
  Tile tileOf(Value task);
  std::pair<Value, Value> divideShort(Value number, Value by);
  std::pair<Value, Value> inBundle(Value chain);
  /// The block with the number `first + offset`, which is below the count. `first` is a multiple of the runs
  /// of a square if the offset is not 0.
  Block blockAt(const Tile &tile, Value first, int64_t offset = 0);
  Value lowerOf(const Block &block);
  Value upperOf(const Block &block);
  Value stepOf(const Block &block, Value step);
  /// A column of null: the bundle is a chain.
  Position positionOf(Value bundle, Value column);
  SmallVector<Index> loopsOf(Value bundle, Value column, Value step);
  FailureOr<Value> startOf(const Block &block, Value column);
  FailureOr<Value> valueAt(ArrayRef<Index> loops);
  Value combine(Value accumulator, Value value);
  Value firstBlockOf(const Tile &tile);
  Value numberInTotals(const Tile &tile, Value block);
  Value loadTotal(Value from, Value number);
  void storeTotal(Value to, Value number, Value total);
  void keepTotal(const Block &block, Value column, Value number, Value total);

  // Where adjacent threads have adjacent chains
  LogicalResult emitColumns(const Tile &tile, Pass pass);
  FailureOr<Value> columnSteps(const Block &block, Pass pass, Value carry, Value start, Value lower,
                               Value upper, int64_t unroll);

  // Where a warp has squares of few chains
  LogicalResult emitSquares(const Tile &tile, Pass pass);
  FailureOr<Value> emitSquare(const Tile &tile, Pass pass, Value first, Value step, Value carry,
                              Value accumulator);
  Value scanSquare(Pass pass, Value carry, Value accumulator);
  Value hasRun();
  Value isWhole(const Tile &tile, Value first, Value step);
  /// What the thread moves between memory and a row of the square.
  struct Moved {
    Value run, element; // of the square, and of the run
    Value step, column; // of the element
  };
  Moved movedAt(Value row);
  FailureOr<Value> loadPresent(const Tile &tile, Value first, Value step, const Moved &moved);
  LogicalResult overSquare(Value isWhole, function_ref<LogicalResult(Value, int64_t, bool)> code);
  LogicalResult loadRows(const Tile &tile, Value first, Value step, Value row, int64_t count, bool whole);
  LogicalResult loadSquare(const Tile &tile, Value first, Value step);
  LogicalResult storeAt(const Block &block, Value column, Value at, Value kept);
  LogicalResult storeRows(const Tile &tile, Value first, Value step, Value row, int64_t count, bool whole);
  LogicalResult storeSquare(const Tile &tile, Value first, Value step);
  Value addressInSquare(Value run, Value element);

  // In shared memory: totals of the blocks of the part, and of the tiles before it; the square of this
  // thread's warp.
  Value totals, tileTotals, square;
  Value run, column; // of the square, that the thread computes
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
