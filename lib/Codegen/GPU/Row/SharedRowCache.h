// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows staged in the shared memory of a block, where they are too long for registers. `cp.async` copies load
// the arguments that several passes read; all copies overlap. All threads of the block compute expensive
// operands of sums into shared memory, since only some threads sum; later passes load them.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_SHAREDROWCACHE_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_SHAREDROWCACHE_H

#include "RowComponent.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::ad::device {

class RowDistribution;

class SharedRowCache : public RowComponent {
public:
  SharedRowCache(RowEmitter &emitter, RowDistribution &distribution, int64_t maxSharedBytes)
      : RowComponent(emitter), distribution(distribution), maxSharedBytes(maxSharedBytes) {}

  /// Chooses the tensors whose rows are staged; false if there are none.
  bool chooseTensors();
  /// The longest vector without bank conflicts.
  int64_t vectorLength() const;
  /// Allocates the rows in shared memory, and sets the threads of a block.
  void allocate();
  /// Copies the rows of arguments, with a barrier before and after.
  void loadRow();
  /// Computes the staged tensors that the reduction needs, if no earlier pass has.
  LogicalResult fillFor(linalg::GenericOp reduction);
  /// The element in shared memory; null if it is not there.
  Value lookup(Value tensor, const Position &position);

private:
  /// The row of a tensor in shared memory; valid after the code that fills it.
  struct StagedRow {
    Buffer buffer;
    bool filled = false;
  };
  void copyRow(const Buffer &source, const Buffer &target);
  LogicalResult computeRow(Value tensor, const Buffer &target);

  RowDistribution &distribution;
  const int64_t maxSharedBytes; // of a block
  llvm::MapVector<Value, StagedRow> stagedRows;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_SHAREDROWCACHE_H
