// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Offsets of the buffers of one pool.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OFFSETASSIGNMENT_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OFFSETASSIGNMENT_H

#include "Buffers.h"

namespace mlir::ad {

/// The layout of a pool. All sizes are rounded up to the alignment.
struct PoolSummary {
  int64_t used = 0;   ///< bytes of the pool
  int64_t total = 0;  ///< bytes of all its buffers
  int64_t live = 0;   ///< bytes of the largest set that is live together: no layout needs less
  int64_t liveAt = 0; ///< number of an operation at which that is so
  StringRef order;    ///< the strategy that found the layout
};

/// Tries several orders of the buffers and keeps the smallest layout. In each order, a buffer gets the first
/// or the smallest gap between the buffers that are live with it ("greedy by size" of Pisarchyk and Lee,
/// 2020, is one of them). If too many buffers are live together, one scan over the program is the only
/// strategy.
PoolSummary assignOffsets(ArrayRef<PlannedBuffer *> buffers, int64_t alignment);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_OFFSETASSIGNMENT_H
