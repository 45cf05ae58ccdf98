// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which axes of the values in a fusion have the same index.

#ifndef ADJOINT_LIB_CONVERSION_ADTOLINALG_FUSIONLOOPS_H
#define ADJOINT_LIB_CONVERSION_ADTOLINALG_FUSIONLOOPS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::ad {

/// The value of a constant tensor; null for any other operation.
DenseElementsAttr constantTensor(Operation &op);

/// The loops of a fusion, by number: axes of its values that have the same index are one loop.
class FusionLoops {
public:
  explicit FusionLoops(Block &body);

  /// The loop of each axis of the value.
  ArrayRef<unsigned> of(Value value) const { return loops.find(value)->second; }
  /// The size of the loop. An axis of size 1 repeats its value along a longer loop.
  int64_t sizeOf(unsigned loop) const { return sizes[loop]; }

  /// Whether `loop` and those of the group, which are adjacent, can be one: each value that has one of them
  /// has all, in this order, and either repeats its elements along all of them or along none.
  bool canJoin(ArrayRef<unsigned> group, unsigned loop) const;
  /// Whether the value has elements along some of the loops, and repeats or lacks others.
  bool isRepeated(Value value, ArrayRef<unsigned> space) const;

  auto begin() const { return loops.begin(); }
  auto end() const { return loops.end(); }
  unsigned count() const { return sizes.size(); }

private:
  void number(ValueRange values);
  void visit(Operation &op);
  void visitBroadcast(Operation &op);
  void visitNest(FusableOpInterface op);
  void fixAll(Operation &op);
  void measure();

  llvm::MapVector<Value, SmallVector<unsigned>> loops; ///< numbers of axes, until all are visited
  llvm::IntEqClasses classes;
  unsigned axisCount = 0;
  llvm::BitVector fixed; ///< loops that stay as they are
  SmallVector<int64_t> sizes;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_ADTOLINALG_FUSIONLOOPS_H
