// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The buffers of one host program while it is planned: which values are in them, and when they are live.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_BUFFERS_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_BUFFERS_H

#include "Pools.h"
#include "ProgramOrder.h"

namespace mlir::ad {

/// A buffer whose offset is not known yet. Lifetimes are closed intervals of numbers of operations: all that
/// one kernel reads and writes is live together.
struct PlannedBuffer {
  StorageKind storage = StorageKind::arena;
  int64_t number = 0; ///< of the pool, the argument or the result
  int64_t offset = 0, bytes = 0;
  int64_t first = 0; ///< number of the operation that first writes it
  int64_t last = 0;  ///< number of the last operation that may read it

  /// Whether it is in the arena or in another pool.
  bool isInPool() const { return storage == StorageKind::arena || storage == StorageKind::pool; }
};

/// Keeps the invariant that the lifetime of a buffer covers all uses of the values in it.
class Buffers {
public:
  Buffers(const ProgramOrder &order, PoolAnalysis &pools) : order(order), pools(pools) {}

  /// A new buffer for values of the type, whose lifetime starts at the operation with the number `at`.
  int64_t make(Type type, int64_t at, StorageKind storage, int64_t number);
  /// The same in the pool of the value.
  int64_t makePooled(Value value, int64_t at);

  /// Puts the value into the buffer; -1 for memory of its own.
  void assign(Value value, int64_t buffer);
  /// The buffer of the value; -1 for memory of its own (arguments, constants).
  int64_t of(Value value) const { return bufferOf.lookup_or(value, -1); }
  void extend(int64_t buffer, int64_t end) { planned[buffer].last = std::max(planned[buffer].last, end); }

  /// Ends the lifetime of the buffer with the last use of `value`, or of an alias of it, in the region.
  void endWithin(int64_t buffer, Value value, Region &region);

  const PlannedBuffer &operator[](int64_t buffer) const { return planned[buffer]; }
  MutableArrayRef<PlannedBuffer> getAll() { return planned; }

private:
  const ProgramOrder &order;
  PoolAnalysis &pools;
  SmallVector<PlannedBuffer> planned;
  DenseMap<Value, int64_t> bufferOf;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_BUFFERS_H
