// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sorted runs of items in the shared memory of a block. A thread merges kItemsOfThread neighbouring items of
// the result of two runs: it searches where they begin in each of the two ("merge path": O. Green, R. McColl,
// D. Bader, "GPU Merge Path", 2012), and then takes the smaller of two items again and again.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SORT_SHAREDITEMS_H
#define ADJOINT_LIB_CODEGEN_GPU_SORT_SHAREDITEMS_H

#include "SortItems.h"

namespace mlir::ad::device {

/// A power of two.
constexpr int64_t kItemsOfThread = 8;

class SharedItems {
public:
  /// Places for `count` items, and one behind them that may be read. `thread`: its number in the block (i32).
  SharedItems(SortItems &items, Operation *function, int64_t count, Value thread);
  /// Of shared memory.
  static int64_t bytesFor(ItemForm form, int64_t count);

  /// Places are numbers of 32 bits.
  SortItem load(Value place) { return {loadKey(place), loadPosition(place)}; }
  void store(Value place, const SortItem &item);
  /// Those of the thread, one after the other.
  SmallVector<SortItem> loadOwn();
  void storeOwn(ArrayRef<SortItem> own);

  struct Run {
    Value first, end;
  };
  /// The items of the thread in the merged runs, `before` of which come before them. All items of x are from
  /// places of the line before those of y, so that keys alone decide: x has the first one of equal keys.
  SmallVector<SortItem> merge(Run x, Run y, Value before);

private:
  Value slotOf(Value place);
  Value loadKey(Value place);
  /// Null if items have none.
  Value loadPosition(Value place);
  Value splitOf(Run x, Run y, Value before);

  SortItems &items;
  Value thread;
  Value keys, positions; // pointers
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SORT_SHAREDITEMS_H
