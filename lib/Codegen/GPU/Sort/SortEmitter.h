// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels of ad.argsort along the last axis. The first one sorts tiles in shared memory: each thread sorts a
// few items in its registers, and then runs of them are merged until a run is a line, or the tile. Where
// lines are longer, kernels that merge two runs of memory follow, each of which makes runs of twice the
// length; the last one writes the positions.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SORT_SORTEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_SORT_SORTEMITTER_H

#include "SharedItems.h"
#include "SortShape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::ad::device {

class SortEmitter {
public:
  /// The function has an entry block, whose arguments are those of the kernel and, if a line may have several
  /// tiles, the memory of runs and the number of the merging kernel.
  SortEmitter(FunctionOpInterface function, const SortShape &shape, ItemForm form);

  void emitTiles();
  void emitMerge();

private:
  struct Tile;
  struct Place;
  struct Merge;
  using Store = function_ref<void(Value number, const SortItem &item)>;
  /// Pointers to items in memory.
  struct Runs {
    Value keys, positions;
  };

  Value threadNumber();
  void forEachTile(Value count, function_ref<void(Value)> body);
  void forEachPlace(int64_t count, function_ref<void(Value)> body);
  void emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise = {});
  void synchronize() { ::mlir::gpu::BarrierOp::create(builder, loc); }
  SharedItems shareItems(int64_t count);

  Value levelsOfTile();
  Value tileCount();
  Tile tileAt(Value number);
  Place placeIn(const Tile &tile, Value place);
  void loadTile(const Tile &tile, SharedItems &shared);
  void sortOwn(MutableArrayRef<SortItem> own);
  SmallVector<SortItem> mergeOwn(SharedItems &shared, SmallVector<SortItem> own, Value levels);
  SortItem itemInRun(const Tile &tile, const SortItem &item);
  void storeTile(const Tile &tile, SharedItems &shared);
  void storeItems(Value isSorted, Value side, Value element, function_ref<void(Store)> storeEach);

  Runs runsAt(Value side, Value element);
  SortItem loadFrom(const Runs &runs, Value number);
  void storeTo(const Runs &runs, Value number, const SortItem &item);
  Value splitOf(Value keysOfX, Value keysOfY, Value least, Value most, Value before);
  Merge mergeAt(Value first, Value elements, Value run);
  std::pair<Value, Value> splitsOf(const Merge &merge, Value keysOfX, Value splits);
  void loadPart(const Merge &merge, const Runs &runs, Value firstX, Value countOfX, SharedItems &shared);

  const SortShape &shape;
  FunctionOpInterface function;
  OpBuilder builder;
  Location loc;
  SortItems items;
  Value keys, positions, memory, pass; // pointers, and the number of the merging kernel
  Value lines, length;
  Value thread; // its number in the block (i32)
};

/// The body of the host function of SortedRuns.h.
void emitRunSizes(func::FuncOp host, const SortShape &shape);

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SORT_SORTEMITTER_H
