// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Offsets of the buffers of one pool.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLACEMENT_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLACEMENT_H

#include "Planner.h"

namespace mlir::ad {

/// What became of a pool. All sizes are rounded up to what offsets are multiples of.
struct PoolSummary {
  int64_t used = 0;   ///< bytes of the pool
  int64_t total = 0;  ///< bytes of all its buffers
  int64_t live = 0;   ///< bytes of the largest set that is live together: no layout needs less
  int64_t liveAt = 0; ///< number of an operation at which that is so
  StringRef order;    ///< in which the buffers were placed
};

/// Tries several orders and keeps the layout that needs least: one after another to each buffer the first or
/// the smallest gap between those that are live with it. Where too many are live together, one scan over the
/// program has to do.
PoolSummary placePool(ArrayRef<PlannedBuffer *> buffers, int64_t alignment);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLACEMENT_H
