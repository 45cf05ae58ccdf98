/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Asynchronous operations in flight. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_STATE_ASYNCCOPIES_H
#define ADJOINT_LIB_EMULATOR_MACHINE_STATE_ASYNCCOPIES_H

#include "BarrierState.h"
#include "TensorMap.h"

namespace adsim {

struct Cta;

/// One `cp.async`.
struct CpAsyncCopy {
  char *destination;
  const char *source;
  uint32_t bytes, sourceBytes, site, number;
  bool landed;
};

/// One `cp.async.bulk` of a tile or of contiguous bytes.
struct BulkCopy {
  TensorMap map; ///< of a tile
  int32_t coordinates[5] = {};
  char *shared = nullptr, *global = nullptr;
  Cta *target = nullptr; ///< the CTA that owns `shared`
  Thread *issuer = nullptr;
  MBarrier *barrier = nullptr; ///< of a load: its transaction count is updated when the copy lands
  char *from = nullptr;        ///< the source, if that is shared memory too
  uint32_t bytes = 0, site = noSite, number = 0;
  bool tiled = false, toGlobal = false, landed = false;
};

/// A range of shared memory that a `wgmma` in flight reads, for the race detector.
struct PendingRange {
  uint32_t offset, bytes, number;
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_STATE_ASYNCCOPIES_H
