// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What kernels for sorting compare and move: items, of which no two are equal. An item is the key of an
// element, as an unsigned number in the order of ad.argsort, and its position in the line, of 32 bits. In a
// tile, a key of up to 16 bits is one word with the place in the tile.

#ifndef ADJOINT_LIB_CODEGEN_GPU_SORT_SORTITEMS_H
#define ADJOINT_LIB_CODEGEN_GPU_SORT_SORTITEMS_H

#include "../Generic/ScalarBuilder.h"

namespace mlir::ad::device {

/// What an item consists of.
struct ItemForm {
  /// In shared memory while a tile is sorted, and in runs of several tiles.
  static ItemForm inTile(Type element);
  static ItemForm inRuns(Type element);

  int64_t keyBytes;
  bool hasPosition; ///< otherwise the lower half of a key of 4 bytes is a place, and the upper half the key
  int64_t bytes() const { return keyBytes + (hasPosition ? 4 : 0); }
};

/// Without a position of its own it has none here.
struct SortItem {
  Value key, position;
};

class SortItems : public ScalarBuilder {
public:
  /// Of elements of that type.
  SortItems(OpBuilder &builder, Location loc, Type element, bool descending, ItemForm form);

  Type keyType() { return builder.getIntegerType(form.keyBytes * 8); }
  Type positionType() { return builder.getI32Type(); }
  /// How elements are in memory.
  Type memoryType() { return builder.getIntegerType(width); }

  /// The item of an element, from its bits; the position is a place in a tile if it has no word of its own.
  SortItem make(Value bits, Value position);
  /// As it is in runs, and its place in the tile, if it has no position of its own.
  SortItem inRun(const SortItem &item, Value position);
  Value placeOf(const SortItem &item);
  /// The one that comes after all others.
  SortItem last();
  Value comesBefore(const SortItem &x, const SortItem &y);
  SortItem select(Value condition, const SortItem &x, const SortItem &y);
  using ScalarBuilder::select;
  /// Puts the items in ascending order, by Batcher's odd-even merge sort; their number is a power of two.
  void sort(MutableArrayRef<SortItem> items);
  /// Merges the two runs that a group of neighbouring threads has in its registers, by a bitonic network: the
  /// `own` items of the first thread come first. Powers of two; groups are not larger than a warp. `thread`
  /// is the number of the thread.
  void mergeInGroup(MutableArrayRef<SortItem> own, int64_t group, Value thread);

  const ItemForm form;

private:
  void exchange(SortItem &x, SortItem &y);
  SortItem ofThread(const SortItem &item, int64_t mask);
  Value keyOf(Value bits);

  Type element;
  unsigned width;
  bool descending;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_SORT_SORTITEMS_H
